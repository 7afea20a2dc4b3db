import type { Db, Transaction } from '../store/store.ts';
import { forEachConcurrently } from './concurrency.ts';
import { recovering } from './delivery.ts';
import type { Completion } from './delivery.ts';
import { claimReservation, deleteReservation, recoverableReservations } from './reservation.ts';
import type { NewReservation, Reservation } from './reservation.ts';
import type { Runtime } from './runtime.ts';

/** The result of a round of recovery. */
export interface RecoveryRound {
  readonly settled: number;
  /** Reservations that could not be settled because a port or the store failed. The next round tries again. */
  readonly failures: readonly { readonly reservation: string; readonly error: unknown }[];
}

/**
 * Settles every delivery that was interrupted or enqueued: those of dead instances, and those of this instance that it is not
 * delivering at the moment.
 *
 * @param skipped Reservations that have just failed.
 */
export async function recoverDeliveries(runtime: Runtime, skipped: ReadonlySet<string>): Promise<RecoveryRound> {
  const { store, instance, deliveries, closing } = runtime;
  const reservations = await recoverableReservations(store, instance);
  let settled = 0;
  const failures: RecoveryRound['failures'][number][] = [];
  async function recover(reservation: Reservation): Promise<void> {
    const { id, delivery } = reservation;
    if (instance.delivering.has(id) || skipped.has(id)) return;
    instance.delivering.add(id);
    try {
      const known = deliveries[delivery];
      if (!known) throw new Error(`The reservation ${id} names an unknown delivery: ${delivery}.`);
      const { subject, completion } = recovering(known, reservation.details);
      const outcome = await completeReservation(runtime, { ...reservation, subject }, completion, ({ db }) =>
        forgetReservedKey(db, reservation),
      );
      if (outcome) settled++;
    } catch (error) {
      failures.push({ reservation: id, error });
    } finally {
      instance.delivering.delete(id);
    }
  }
  const { maxConcurrentDeliveries: max, deliveryWaitMs: waitMs } = store.tuning;
  await forEachConcurrently(reservations, recover, { max, waitMs, closing });
  return { settled, failures };
}

/**
 * Claims a reservation, calls the port with a new token, and deletes the reservation in the transaction that confirms the delivery.
 *
 * @param confirmed Runs in that transaction, with the result.
 * @returns Undefined if the reservation is gone or another live instance owns it.
 */
export async function completeReservation<Result, Outcome>(
  { store, ports, instance }: Runtime,
  reservation: NewReservation,
  completion: Completion<Result>,
  confirmed: (transaction: Transaction, result: Result) => Promise<Outcome>,
): Promise<{ readonly outcome: Outcome } | undefined> {
  const token = await claimReservation(store, instance, reservation);
  if (token === undefined) return undefined;
  await completion.call(ports, token);
  return store.commit(
    async (transaction) => {
      if (!(await deleteReservation(transaction.db, reservation.id, instance))) return undefined;
      return { outcome: await confirmed(transaction, await completion.confirm(transaction)) };
    },
    { isUrgent: true },
  );
}

/** Frees the Idempotency-Key of a delivery that ends without a stored response. */
export async function forgetReservedKey(db: Db, { accountId, keyHash }: Pick<Reservation, 'accountId' | 'keyHash'>): Promise<void> {
  if (keyHash === null) return;
  await db
    .deleteFrom('idempotency_keys')
    .where('account_id', '=', accountId)
    .where('key_hash', '=', keyHash)
    .where('state', '=', 'pending')
    .execute();
}
