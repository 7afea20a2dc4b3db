/**
 * The instances of the service that share a store. Each holds a lease by the database's clock and renews it while it lives, so that the
 * others know whose deliveries to recover. A store that belongs to one process has no leases: every earlier owner is dead.
 */
import { sql } from 'kysely';
import type { Expression, ExpressionBuilder, SqlBool } from 'kysely';

import type { Schema } from '../store/schema.ts';
import { StoreUnavailableError } from '../store/store.ts';
import type { Store } from '../store/store.ts';
import { ClockError } from './clock-check.ts';
import type { ClockCheck } from './clock-check.ts';
import { shared } from './concurrency.ts';
import { outdatedReason, ownVersion } from './version-gate.ts';

export const DEFAULT_LEASE_MS = 15_000;

/** A lease is renewed this many times before it would expire. */
const RENEWALS_PER_LEASE = 4;
/** Expired leases are deleted after this time. */
const LEASE_RETENTION_MS = 86_400_000;
const MAX_RENEWAL_WAIT_MS = 15_000;
/** An embedded store keeps the time of its clock this often. */
const MARK_INTERVAL_MS = 60_000;

/** This process, as one of the instances that share a store. */
export interface Instance {
  readonly id: string;
  /** Reservations that this instance is delivering or recovering at the moment. */
  readonly delivering: Set<string>;
  /** A condition on a column that names an instance: true if it is another one, and dead. An empty or null owner counts as dead. */
  isDead<Tables extends keyof Schema>(eb: ExpressionBuilder<Schema, Tables>, owner: Expression<string | null>): Expression<SqlBool>;
  /** Whether another instance is alive. */
  hasOthers(): Promise<boolean>;
  /**
   * Resolves if the clock is right and this instance holds its lease. An expired lease is renewed first.
   *
   * @throws ClockError if the clock is wrong.
   * @throws StoreUnavailableError if the lease cannot be renewed. The others consider this instance dead, so it must not begin any work.
   */
  assertAlive(): Promise<void>;
  /**
   * Resolves if the clock is right and the store can be written to.
   *
   * @throws ClockError or StoreUnavailableError if not.
   */
  assertReady(): Promise<void>;
  /**
   * Announces to the other instances that this one serves requests. Those of an older version then stop.
   *
   * @throws StoreUnavailableError if the store cannot be written to. A later renewal of the lease announces it.
   */
  announceServing(): Promise<void>;
  /** Gives up the lease. Other instances recover the interrupted deliveries. */
  leave(): Promise<void>;
}

export interface JoinOptions {
  readonly store: Store;
  readonly id: string;
  readonly leaseMs: number;
  readonly clockCheck: ClockCheck;
  /** Called once, when an instance of a newer version serves requests. */
  onOutdated(reason: string): void;
  /** Called if the lease could not be renewed. */
  onFailure(error: unknown): void;
}

/**
 * @throws StoreUnavailableError if the store cannot be written to.
 * @throws ClockError if the clock of this machine is wrong.
 */
export async function joinCluster({ store, id, leaseMs, clockCheck, onFailure, onOutdated }: JoinOptions): Promise<Instance> {
  const { hasInstances, now } = store.sharing;
  const lease = new Lease({ store, id, leaseMs, clockCheck, onOutdated });
  let leaving = false;

  /** A database that hangs delays neither the next renewal nor the end of the process. */
  function withTimeout<T>(work: Promise<T>): Promise<T> {
    return within(work, Math.min(leaseMs / 2, MAX_RENEWAL_WAIT_MS));
  }

  let timer: NodeJS.Timeout | undefined;
  let renewing: Promise<void> = Promise.resolve();
  function renewAgain(): void {
    timer = setTimeout(() => {
      renewing = withTimeout(lease.renew())
        // The clock check itself reports a wrong clock.
        .catch((error: unknown) => {
          if (!(error instanceof ClockError)) onFailure(error);
        })
        .finally(() => {
          if (!leaving) renewAgain();
        });
    }, leaseMs / RENEWALS_PER_LEASE).unref();
  }
  let markedAt = performance.now();
  if (hasInstances) {
    await lease.renew();
    await deleteOldLeases(store);
    renewAgain();
  } else await clockCheck.mark();

  return {
    id,
    delivering: new Set(),
    isDead(eb, owner) {
      const others = eb(owner, 'is distinct from', id);
      if (!hasInstances) return others;
      const known = sql<SqlBool>`exists (select 1 from instances where instances.id = ${owner} ${lease.provesDeath() ? sql`and instances.lease_until > ${now}` : sql``})`;
      return eb.and([others, eb.not(known)]);
    },
    async assertAlive() {
      await clockCheck.assertRight();
      if (hasInstances && !lease.isHeld()) await withTimeout(lease.renew());
      if (hasInstances || performance.now() - markedAt < MARK_INTERVAL_MS) return;
      markedAt = performance.now();
      await clockCheck.mark();
    },
    assertReady: shared(() => withTimeout(hasInstances ? lease.renew() : clockCheck.mark())),
    hasOthers: async () =>
      hasInstances &&
      (await store.read(
        (db) => db.selectFrom('instances').select('id').where('id', '!=', id).where('lease_until', '>', now).limit(1).executeTakeFirst(),
        { isUrgent: true },
      )) !== undefined,
    async announceServing() {
      if (!hasInstances) return;
      lease.serves = true;
      await withTimeout(lease.renew());
    },
    async leave() {
      if (leaving) return;
      leaving = true;
      clearTimeout(timer);
      await renewing;
      if (hasInstances)
        await withTimeout(store.commit(({ db }) => db.deleteFrom('instances').where('id', '=', id).execute(), { isUrgent: true }));
    },
  };
}

/** Only an instance that joins adds a lease, so it is enough to delete old ones then. */
async function deleteOldLeases({ commit, sharing: { now } }: Store): Promise<void> {
  await commit(({ db }) =>
    db
      .deleteFrom('instances')
      .where('lease_until', '<', sql<number>`${now} - ${sql.lit(LEASE_RETENTION_MS)}`)
      .execute(),
  );
}

/** The lease of this instance. */
class Lease {
  readonly #options: Omit<JoinOptions, 'onFailure'>;
  #heldSince = performance.now();
  #heldUntil = -Infinity;
  #isOutdated = false;
  /** Whether this instance serves requests. */
  serves = false;

  constructor(options: Omit<JoinOptions, 'onFailure'>) {
    this.#options = options;
  }

  async renew(): Promise<void> {
    const begun = performance.now();
    const reason = await renewLease(this.#options, this.serves ? ownVersion() : null);
    if (reason !== undefined && !this.#isOutdated) {
      this.#isOutdated = true;
      this.#options.onOutdated(reason);
    }
    if (begun > this.#heldUntil) this.#heldSince = begun;
    // A slow renewal may end after a later one.
    this.#heldUntil = Math.max(this.#heldUntil, begun + this.#options.leaseMs);
  }

  isHeld(): boolean {
    return performance.now() < this.#heldUntil;
  }

  /**
   * Whether the expired lease of another instance proves that it is dead. After an outage of the database, all leases have expired although
   * the instances are alive. So this instance first holds its own lease for a while, in which the others can renew theirs.
   */
  provesDeath(): boolean {
    return this.isHeld() && performance.now() - this.#heldSince > this.#options.leaseMs / 2;
  }
}

/**
 * @param serves The version with which this instance serves requests.
 * @returns Why the instance must stop, if one of a newer version has taken over.
 */
function renewLease({ store, id, leaseMs, clockCheck }: Omit<JoinOptions, 'onFailure' | 'onOutdated'>, serves: string | null) {
  const { now } = store.sharing;
  return store.commit(
    async ({ db }) => {
      // An instance with a wrong clock loses its lease.
      await clockCheck.compare(db);
      await db
        .insertInto('instances')
        .values({ id, lease_until: sql<number>`${now} + ${sql.lit(leaseMs)}`, serves })
        .onConflict((conflict) =>
          conflict.column('id').doUpdateSet(({ ref }) => ({ lease_until: ref('excluded.lease_until'), serves: ref('excluded.serves') })),
        )
        .execute();
      return outdatedReason(db, now);
    },
    { isUrgent: true },
  );
}

/** Races the work against a timeout. A late result is ignored. */
async function within<T>(work: Promise<T>, milliseconds: number): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => reject(new StoreUnavailableError('The database did not respond in time to renew the lease.')),
    milliseconds,
  );
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
}
