/** The stored reservations, each of which one instance confirms or recovers, and the fencing tokens of their port calls. */
import { StaleTokenError } from '@reseller/adapters';
import type { Fence, FencingToken, Subject } from '@reseller/adapters';
import type { Updateable } from 'kysely';

import { lockAccount } from '../store/account-lock.ts';
import { prepared } from '../store/prepared.ts';
import { StoreUnavailableError } from '../store/store.ts';
import type { Db, Store, Transaction } from '../store/store.ts';
import type { ReservationsTable } from '../store/tables/service.ts';
import type { Instance } from './instance.ts';

/** An owner that no instance has: any instance may recover the reservation. */
const NO_OWNER = '';

export interface Reservation {
  readonly id: string;
  readonly accountId: string;
  /** Name of the delivery. */
  readonly delivery: string;
  /** JSON text. */
  readonly details: string;
  /** Hash of the caller's Idempotency-Key, or null. */
  readonly keyHash: string | null;
  /** The task of the infrastructure for which it waits. Null if it waits for none. */
  readonly task: string | null;
  /** Whether the task undoes the delivery. */
  readonly undoing: boolean;
  /** The subject of the port calls, such as `vm/70418`. */
  readonly subject: string;
}

/** A reservation before it is stored. */
export interface NewReservation extends Omit<Reservation, 'task' | 'undoing'> {
  readonly subject: Subject;
}

/** Another instance considered this one dead and recovered the reservation. */
export class ReservationLostError extends StoreUnavailableError {
  constructor(options?: ErrorOptions) {
    super('Another instance has taken over the reservation and recovers it.', options);
  }
}

/**
 * Stores a reservation that this instance delivers immediately, at the end of the transaction.
 *
 * @returns The token, after the commit.
 */
export async function keepReservation(
  { atCommit }: Transaction,
  reservation: NewReservation,
  { owner, now }: { owner: Instance; now: number },
): Promise<FencingToken> {
  const { subject } = reservation;
  void atCommit(insertReservation, { ...reservation, created: now, owner: owner.id });
  return issuedToken(await atCommit(takeToken, { subject }), subject);
}

/**
 * Stores a reservation that the recovery loop delivers after the transaction. It supersedes earlier reservations of the same subject. The
 * delivery must be finishable.
 */
export async function enqueueReservation(db: Db, reservation: NewReservation, now: number): Promise<void> {
  await db.deleteFrom('reservations').where('subject', '=', reservation.subject).execute();
  // Makes late calls for a superseded reservation stale. The call for this one gets a token when it is claimed.
  await issueToken(db, reservation.subject);
  await insertReservation(db, { ...reservation, created: now, owner: NO_OWNER });
}

const insertReservation = prepared<NewReservation & { created: number; owner: string }, unknown>((db, parameter) =>
  db.insertInto('reservations').values({
    id: parameter('id'),
    account_id: parameter('accountId'),
    delivery: parameter('delivery'),
    details: parameter('details'),
    key_hash: parameter('keyHash'),
    created: parameter('created'),
    owner: parameter('owner'),
    subject: parameter('subject'),
  }),
);

/** @returns True if this instance still owned the reservation. */
export async function deleteReservation(db: Db, id: string, owner: Instance): Promise<boolean> {
  const [removed] = await removeReservation(db, { id, owner: owner.id });
  return removed !== undefined || removeAfterMonthEnd(db, id, owner.id);
}

const removeReservation = prepared<{ id: string; owner: string }, { id: string }>((db, parameter) =>
  db
    .deleteFrom('reservations')
    .where('id', '=', parameter('id'))
    .where('owner', '=', parameter('owner'))
    .where('extra_hold', '=', 0)
    .returning('id'),
);

/** Deletes a reservation whose month has ended, and releases what it holds since then. The account is locked first, as in every transaction. */
async function removeAfterMonthEnd(db: Db, id: string, owner: string): Promise<boolean> {
  const found = await db.selectFrom('reservations').select('account_id').where('id', '=', id).where('owner', '=', owner).executeTakeFirst();
  if (!found) return false;
  await lockAccount(db, found.account_id);
  const deleted = await db
    .deleteFrom('reservations')
    .where('id', '=', id)
    .where('owner', '=', owner)
    .returning('extra_hold')
    .executeTakeFirst();
  if (!deleted) return false;
  await db
    .updateTable('accounts')
    .set(({ eb }) => ({ held: eb('held', '-', deleted.extra_hold) }))
    .where('id', '=', found.account_id)
    .execute();
  return true;
}

/**
 * Takes over a reservation for recovery. A transaction that confirms a reservation locks its row until the commit. So a confirmed
 * reservation no longer exists here, even if its caller got an error.
 *
 * @returns The token of the recovering call, or undefined if the reservation is gone or another live instance owns it.
 */
export async function claimReservation(
  store: Store,
  instance: Instance,
  { id, subject }: Pick<NewReservation, 'id' | 'subject'>,
): Promise<FencingToken | undefined> {
  return store.commit(
    async ({ db }) => {
      const claimed = await db
        .updateTable('reservations')
        .set({ owner: instance.id })
        .where('id', '=', id)
        .where((eb) => eb.or([eb('owner', '=', instance.id), instance.isDead(eb, eb.ref('owner'))]))
        .executeTakeFirst();
      return claimed.numUpdatedRows === 0n ? undefined : issueToken(db, subject);
    },
    { isUrgent: true },
  );
}

/** The reservations that this instance may settle: its own, and those of instances that died. */
export function recoverable(db: Db, instance: Instance) {
  return db.selectFrom('reservations').where((eb) => eb.or([eb('owner', '=', instance.id), instance.isDead(eb, eb.ref('owner'))]));
}

/** The reservations that this instance may recover: its own and those of dead instances. @param subject Only those about it. */
export async function recoverableReservations(store: Store, instance: Instance, subject?: Subject): Promise<Reservation[]> {
  const rows = await store.read(
    (db) =>
      recoverable(db, instance)
        .selectAll()
        .$if(subject !== undefined, (query) => query.where('subject', '=', subject ?? ''))
        .orderBy('created')
        .orderBy('id')
        .execute(),
    { isUrgent: true },
  );
  return rows.map(({ id, account_id: accountId, delivery, details, key_hash: keyHash, task, undoing, subject: about }) => ({
    id,
    accountId,
    delivery,
    details,
    keyHash,
    task,
    undoing: undoing === 1,
    subject: about,
  }));
}

/** Leaves a reservation to recovery, with changed columns. @returns True if this instance still owned it. */
export async function releaseReservation(db: Db, id: string, owner: Instance, changed: Updateable<ReservationsTable>): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('reservations')
    .set({ ...changed, owner: NO_OWNER })
    .where('id', '=', id)
    .where('owner', '=', owner.id)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Leaves every reservation to recovery. Called after a restore: the reservations are from an earlier state of the store. */
export async function disownReservations(db: Db): Promise<void> {
  await db.updateTable('reservations').set({ owner: NO_OWNER }).execute();
}

/**
 * Issues the next token of a subject. Call it in the transaction that reserves the subject, so that tokens follow the order of
 * reservations.
 */
export async function issueToken(db: Db, subject: Subject): Promise<FencingToken> {
  return issuedToken(await takeToken(db, { subject }), subject);
}

function issuedToken([issued]: readonly { token: FencingToken }[], subject: Subject): FencingToken {
  if (!issued) throw new Error(`No fencing token was issued for ${subject}.`);
  return issued.token;
}

const takeToken = prepared<{ subject: string }, { token: FencingToken }>((db, parameter) =>
  db
    .insertInto('fencing_tokens')
    .values({ subject: parameter('subject'), token: 1 })
    .onConflict((conflict) => conflict.column('subject').doUpdateSet(({ eb }) => ({ token: eb('fencing_tokens.token', '+', 1) })))
    .returning('token'),
);

/**
 * A fence for adapters of systems that cannot compare tokens, such as registries: it rejects a call if the service has issued a newer
 * token for its subject. All instances of a store share it.
 */
export function storeFence(store: Store): Fence {
  return {
    async admit(subject, token) {
      const issued = await store.read((db) =>
        db.selectFrom('fencing_tokens').select('token').where('subject', '=', subject).executeTakeFirst(),
      );
      if (issued && token < issued.token) throw new StaleTokenError(subject, token, issued.token);
    },
  };
}

/** Raises all fencing tokens after a restore, above those that the infrastructure knows. @returns The number of tokens. */
export function raiseFencingTokens(store: Store, by: number): Promise<number> {
  return store.commit(async ({ db }) => {
    const { numUpdatedRows } = await db
      .updateTable('fencing_tokens')
      .set(({ eb }) => ({ token: eb('token', '+', by) }))
      .executeTakeFirst();
    return Number(numUpdatedRows);
  });
}
