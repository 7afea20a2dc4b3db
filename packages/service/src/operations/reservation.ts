/** Reservations: what an operation keeps while the infrastructure is at work, and how it is undone. */
import type { Ports } from '../ports/ports.ts';
import { StoreUnavailableError } from '../store/store.ts';
import type { Db, Store } from '../store/store.ts';
import { forgetKey } from './idempotency.ts';
import type { DeliveredOperation, OperationId, OperationTable, ReservationDetails } from './operation.ts';

/** A stored reservation. */
export interface Reservation {
  readonly id: string;
  readonly accountId: string;
  readonly operation: string;
  readonly details: ReservationDetails;
  /** Hash of the caller's Idempotency-Key, or null. */
  readonly keyHash: string | null;
}

/** What undoing needs. */
export interface Undoing {
  readonly store: Store;
  readonly ports: Ports;
  readonly table: OperationTable;
}

export async function keepReservation(db: Db, reservation: Reservation, now: number): Promise<void> {
  const { id, accountId, operation, details, keyHash } = reservation;
  await db
    .insertInto('reservations')
    .values({ id, account_id: accountId, operation, details: JSON.stringify(details), key_hash: keyHash, created: now })
    .execute();
}

/** @returns Whether it was there: whoever deletes it decides what becomes of it. */
export async function deleteReservation(db: Db, id: string): Promise<boolean> {
  const { numDeletedRows } = await db.deleteFrom('reservations').where('id', '=', id).executeTakeFirst();
  return numDeletedRows > 0n;
}

/** Another process has undone the reservation while this one was still delivering. */
export class ReservationUndoneError extends StoreUnavailableError {}

/** Takes back what a delivery did outside after its reservation had been undone. May be repeated. */
export async function withdrawDelivery({ ports, table }: Undoing, reservation: Reservation): Promise<void> {
  await deliveredOperation(table, reservation.operation).withdraw(ports, reservation.details);
}

/** Takes back what a delivery may have done outside, then what was reserved. May be repeated. */
export async function undoReservation({ store, ports, table }: Undoing, reservation: Reservation): Promise<void> {
  // A confirmation that was committed although its caller did not learn so has taken the reservation with it: what it delivered stays.
  const left = await store.read((db) => db.selectFrom('reservations').select('id').where('id', '=', reservation.id).executeTakeFirst());
  if (!left) return;
  const operation = deliveredOperation(table, reservation.operation);
  await withdrawDelivery({ store, ports, table }, reservation);
  await store.commit(async (transaction) => {
    if (!(await deleteReservation(transaction.db, reservation.id))) return;
    await operation.release(transaction, reservation.details);
    if (reservation.keyHash !== null) await forgetKey(transaction.db, reservation.accountId, reservation.keyHash);
  });
}

/**
 * Undoes every reservation that an earlier process left behind: its caller never had an answer,
 * so nothing was bought.
 *
 * @returns How many there were.
 */
export async function undoLeftReservations(undoing: Undoing): Promise<number> {
  const rows = await undoing.store.read((db) => db.selectFrom('reservations').selectAll().orderBy('created').orderBy('id').execute());
  for (const row of rows) {
    const details: ReservationDetails = JSON.parse(row.details);
    await undoReservation(undoing, { id: row.id, accountId: row.account_id, operation: row.operation, details, keyHash: row.key_hash });
  }
  return rows.length;
}

function deliveredOperation(table: OperationTable, name: string): Pick<DeliveredOperation<OperationId>, 'withdraw' | 'release'> {
  const operation = Object.entries(table).find(([id]) => id === name)?.[1];
  if (operation?.kind !== 'delivered') throw new Error(`A reservation names the operation ${name}, which reserves nothing.`);
  return operation;
}
