/**
 * Nodes: the services that share a store. Each has a lease by the clock of the database and renews
 * it while it lives, so that the others know whose work is left over. Where the store belongs to
 * one process there are no leases: every earlier owner is dead.
 */
import { sql } from 'kysely';
import type { Expression, ExpressionBuilder, SqlBool } from 'kysely';

import type { Schema } from '../store/schema.ts';
import { StoreUnavailableError } from '../store/store.ts';
import type { Store } from '../store/store.ts';

/** Milliseconds for which a node that is heard of no more counts as alive, where nothing else is said. */
export const USUAL_LEASE = 15_000;

/** Times that a lease is renewed before it would be over. */
const RENEWALS = 4;
/** Milliseconds after which a lease that is over is of no interest. */
const FORGOTTEN = 86_400_000;

/** Milliseconds that one renewal is waited for at the most. */
const LONGEST_WAIT = 15_000;

/** One service among those that share a store. */
export interface Node {
  readonly id: string;
  /** Reservations that it is carrying out at this moment; every other one of its own is left over. */
  readonly delivering: Set<string>;
  /** Condition on a column that names a node: that node is another one, and dead. Empty or null is nobody. */
  isDead<Tables extends keyof Schema>(eb: ExpressionBuilder<Schema, Tables>, owner: Expression<string | null>): Expression<SqlBool>;
  /** Whether another node than this one lives. */
  hasOthers(): Promise<boolean>;
  /**
   * Resolves where this node has its lease, which it renews where that is over.
   *
   * @throws StoreUnavailableError where it cannot: the others count it as dead, so it is to begin nothing.
   */
  assertAlive(): Promise<void>;
  /** Renews the lease no more, and leaves what it has not finished to others. */
  leave(): Promise<void>;
}

/** How a node takes part. */
export interface Joining {
  readonly store: Store;
  readonly id: string;
  /** Milliseconds of its lease. */
  readonly lease: number;
  /** Told of a lease that could not be renewed. */
  onFailure(error: unknown): void;
}

/**
 * Joins the nodes of a store.
 *
 * @throws StoreUnavailableError when the store cannot keep the lease.
 */
export async function joinNodes({ store, id, lease, onFailure }: Joining): Promise<Node> {
  const { severalNodes, now } = store.sharing;
  let heldSince = performance.now();
  let heldUntil = -Infinity;
  let leaving = false;

  async function renew(): Promise<void> {
    const begun = performance.now();
    await store.commit(async ({ db }) => {
      await db
        .insertInto('nodes')
        .values({ id, lease_until: sql<number>`${now} + ${sql.lit(lease)}` })
        .onConflict((conflict) => conflict.column('id').doUpdateSet(({ ref }) => ({ lease_until: ref('excluded.lease_until') })))
        .execute();
      await db
        .deleteFrom('nodes')
        .where('lease_until', '<', sql<number>`${now} - ${sql.lit(FORGOTTEN)}`)
        .execute();
    });
    if (begun > heldUntil) heldSince = begun;
    // One that was long under way may come back after a later one.
    heldUntil = Math.max(heldUntil, begun + lease);
  }

  /** A database that does not answer is asked again, and keeps neither the next renewal nor the end of the service waiting. */
  const patient = <T>(work: Promise<T>): Promise<T> => within(work, Math.min(lease / 2, LONGEST_WAIT));

  /**
   * After the database was away every lease is over, though the nodes live: each of them has had
   * the time to renew its own before another one takes its work for left over.
   */
  const mayJudge = (): boolean => performance.now() < heldUntil && performance.now() - heldSince > lease / 2;

  let timer: NodeJS.Timeout | undefined;
  let renewing: Promise<void> = Promise.resolve();
  const renewAgain = (): void => {
    timer = setTimeout(() => {
      renewing = patient(renew())
        .catch(onFailure)
        .finally(() => {
          if (!leaving) renewAgain();
        });
    }, lease / RENEWALS).unref();
  };
  if (severalNodes) {
    await renew();
    renewAgain();
  }

  return {
    id,
    delivering: new Set(),
    isDead(eb, owner) {
      const others = eb(owner, 'is distinct from', id);
      if (!severalNodes) return others;
      const known = sql<SqlBool>`exists (select 1 from nodes where nodes.id = ${owner} ${mayJudge() ? sql`and nodes.lease_until > ${now}` : sql``})`;
      return eb.and([others, eb.not(known)]);
    },
    async assertAlive() {
      if (severalNodes && performance.now() >= heldUntil) await patient(renew());
    },
    hasOthers: async () =>
      severalNodes &&
      (await store.read((db) =>
        db.selectFrom('nodes').select('id').where('id', '!=', id).where('lease_until', '>', now).limit(1).executeTakeFirst(),
      )) !== undefined,
    async leave() {
      if (leaving) return;
      leaving = true;
      clearTimeout(timer);
      await renewing;
      if (severalNodes) await patient(store.commit(({ db }) => db.deleteFrom('nodes').where('id', '=', id).execute()));
    },
  };
}

/** Waits for work on the store so long. What it comes to afterwards is nobody's any more. */
async function within<T>(work: Promise<T>, milliseconds: number): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new StoreUnavailableError('The database did not answer in time to keep the lease.')), milliseconds);
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
}
