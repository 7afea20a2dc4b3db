/** Reservations: what an operation keeps while the infrastructure is at work, and how it is undone. */
import { sql } from 'kysely';

import type { Ports } from '../ports/ports.ts';
import { PortTimeoutError } from '../ports/time-limit.ts';
import type { Turn } from '../ports/turn.ts';
import { preparedWrite } from '../store/prepared.ts';
import { StoreUnavailableError } from '../store/store.ts';
import type { Db, Store } from '../store/store.ts';
import { forgetKey } from './idempotency.ts';
import type { Node } from './node.ts';
import type { DeliveredOperation, OperationId, OperationTable, ReservationDetails } from './operation.ts';
import { withEach } from './pace.ts';
import { afterwards, nextTurn } from './turns.ts';
import type { Subject } from './turns.ts';

/** A stored reservation. */
export interface Reservation {
  readonly id: string;
  readonly accountId: string;
  readonly operation: string;
  readonly details: ReservationDetails;
  /** Hash of the caller's Idempotency-Key, or null. */
  readonly keyHash: string | null;
  /** What its delivery is about. */
  readonly subject: string;
  /** The turn of its delivery. */
  readonly turn: Turn;
}

/** A reservation before it has its turn. */
export type NewReservation = Omit<Reservation, 'turn'> & { readonly subject: Subject };

/** What undoing needs. */
export interface Undoing {
  readonly store: Store;
  readonly ports: Ports;
  readonly table: OperationTable;
  /** The node that carries reservations out, and undoes those that are left over. */
  readonly node: Node;
  /** Aborted when the service stops: what is not begun by then is left for others, or for the next start. */
  readonly closing: AbortSignal;
}

/** Keeps it, and gives it its turn: to be called when what it is about is this unit's own. */
export async function keepReservation(db: Db, given: NewReservation, { node, now }: { node: Node; now: number }): Promise<Reservation> {
  const reservation = { ...given, turn: await nextTurn(db, given.subject) };
  await insertReservation(db, { ...reservation, details: JSON.stringify(given.details), created: now, owner: node.id });
  return reservation;
}

const insertReservation = preparedWrite<Omit<Reservation, 'details'> & { details: string; created: number; owner: string }>(
  (db, parameter) =>
    db.insertInto('reservations').values({
      id: parameter('id'),
      account_id: parameter('accountId'),
      operation: parameter('operation'),
      details: parameter('details'),
      key_hash: parameter('keyHash'),
      created: parameter('created'),
      owner: parameter('owner'),
      subject: parameter('subject'),
      turn: parameter('turn'),
    }),
);

/** @returns Whether it was there and this node's: whoever deletes it decides what becomes of it. */
export async function deleteReservation(db: Db, id: string, node: Node): Promise<boolean> {
  return (await removeReservation(db, { id, owner: node.id })) > 0;
}

const removeReservation = preparedWrite<{ id: string; owner: string }>((db, parameter) =>
  db.deleteFrom('reservations').where('id', '=', parameter('id')).where('owner', '=', parameter('owner')),
);

/** Another node has taken the reservation for left over, and undoes it, while this one was still delivering. */
export class ReservationUndoneError extends StoreUnavailableError {}

/**
 * Takes back what a delivery did outside after another node had taken its reservation over, unless
 * it is somebody's by now. May be repeated.
 */
async function withdrawDelivery({ store, ports, table }: Undoing, reservation: Reservation): Promise<void> {
  const { id, operation: name, details, subject, turn } = reservation;
  const operation = deliveredOperation(table, name);
  const isTaken = await store.read(async (db) => {
    // While the reservation is still being undone, what it holds is nobody else's.
    const held = await db.selectFrom('reservations').select('id').where('id', '=', id).executeTakeFirst();
    if (held) return false;
    if (operation.isTaken) return operation.isTaken(db, details);
    return await db.selectFrom('turns').select('number').where('subject', '=', subject).where('number', '>', turn).executeTakeFirst();
  });
  // A port refuses it in this turn where somebody has it by now all the same.
  if (!isTaken) await operation.withdraw(ports, details, { turn: afterwards(turn), mayComeYet: true });
}

/**
 * Takes back a delivery that failed, as far as that can be done now; what is left over is undone with the work that is due, which says
 * what is in the way.
 *
 * @returns Whether it was undone; false where another node has taken it on or it was confirmed, undefined where it is left over or
 *   another node undoes it.
 */
export async function undoFailed(undoing: Undoing, reservation: Reservation, error: unknown): Promise<boolean | undefined> {
  if (error instanceof ReservationUndoneError) {
    // Where that fails, there is nothing to take back: whoever undid it has the port refuse what is late.
    await withdrawDelivery(undoing, reservation).catch(() => {});
    return undefined;
  }
  const isUndone = await undoReservation(undoing, reservation, error instanceof PortTimeoutError).catch(() => undefined);
  withdrawWhenEnded(undoing, reservation, error);
  return isUndone;
}

/**
 * A delivery that was given up may come about all the same, after it was undone: when its call has
 * ended, what it did is taken back once more. Nobody waits for that.
 *
 * @param error What the delivery failed with; where it was answered, there is nothing to wait for.
 */
function withdrawWhenEnded(undoing: Undoing, reservation: Reservation, error: unknown): void {
  if (!(error instanceof PortTimeoutError)) return;
  error.ended.then(() => withdrawDelivery(undoing, reservation)).catch(() => {});
}

/**
 * Takes back what a delivery may have done outside, then what was reserved. May be repeated.
 *
 * @param mayComeYet Whether what was delivered may come about yet.
 * @returns Whether it was left over: what another node has taken on, or what was confirmed, is not undone.
 */
async function undoReservation(undoing: Undoing, reservation: Reservation, mayComeYet: boolean): Promise<boolean> {
  const { store, ports, table, node } = undoing;
  // Whoever confirms holds the row until that is committed. So what was confirmed although its caller did not learn so is gone here,
  // and from here on nobody else confirms or undoes it while this node lives.
  const claimed = await store.commit(({ db }) =>
    db
      .updateTable('reservations')
      .set({ owner: node.id })
      .where('id', '=', reservation.id)
      .where((eb) => eb.or([eb('owner', '=', node.id), node.isDead(eb, eb.ref('owner'))]))
      .executeTakeFirst(),
  );
  if (claimed.numUpdatedRows === 0n) return false;
  const operation = deliveredOperation(table, reservation.operation);
  await operation.withdraw(ports, reservation.details, { turn: afterwards(reservation.turn), mayComeYet });
  return store.commit(async (transaction) => {
    if (!(await deleteReservation(transaction.db, reservation.id, node))) return false;
    await operation.release(transaction, reservation.details);
    if (reservation.keyHash !== null) await forgetKey(transaction.db, reservation.accountId, reservation.keyHash);
    return true;
  });
}

/** What became of the reservations that were left over. */
export interface Undone {
  readonly undone: number;
  /** Those that could not be undone, since a port or the store failed; they are left for the next time. */
  readonly failures: readonly { readonly reservation: string; readonly error: unknown }[];
}

/**
 * Undoes every reservation that is left over, of this node or of one that is dead: its caller
 * never had an answer, or one that said that nothing was bought.
 */
export async function undoLeftReservations(undoing: Undoing): Promise<Undone> {
  const { store, node, closing } = undoing;
  const rows = await store.read((db) =>
    db
      .selectFrom('reservations')
      .selectAll()
      .where((eb) => eb.or([eb('owner', '=', node.id), node.isDead(eb, eb.ref('owner'))]))
      .orderBy('created')
      .orderBy('id')
      .execute(),
  );
  let undone = 0;
  const failures: Undone['failures'][number][] = [];
  const undo = async (row: (typeof rows)[number]): Promise<void> => {
    // What has been finished since it was read is not there any more when it is claimed.
    if (node.delivering.has(row.id)) return;
    const details: ReservationDetails = JSON.parse(row.details);
    const { id, account_id: accountId, key_hash: keyHash } = row;
    const reservation = { id, accountId, operation: row.operation, details, keyHash, subject: row.subject, turn: row.turn };
    try {
      if (await undoReservation(undoing, reservation, true)) undone++;
    } catch (error) {
      failures.push({ reservation: row.id, error });
    }
  };
  await withEach(rows, undo, closing);
  return { undone, failures };
}

/**
 * Leaves every reservation of the store to whoever undoes it first: none of them is confirmed any
 * more. They come from an earlier state of the store, and are undone after all that came since.
 */
export async function disownReservations(db: Db): Promise<void> {
  const newest = sql<number>`coalesce((select number from turns where turns.subject = reservations.subject), reservations.turn)`;
  await db.updateTable('reservations').set({ owner: '', turn: newest }).execute();
}

function deliveredOperation(
  table: OperationTable,
  name: string,
): Pick<DeliveredOperation<OperationId>, 'withdraw' | 'release' | 'isTaken'> {
  const operation = Object.entries(table).find(([id]) => id === name)?.[1];
  if (operation?.kind !== 'delivered') throw new Error(`A reservation names the operation ${name}, which reserves nothing.`);
  return operation;
}
