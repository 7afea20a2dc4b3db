import type { Subject } from '@reseller/adapters';
import * as v from 'valibot';

import type { Db, Transaction } from '../store/store.ts';
import { forEachConcurrently } from './concurrency.ts';
import { endingAfterTask, recovering } from './delivery.ts';
import type { AnyDelivery, Completion } from './delivery.ts';
import { claimReservation, deleteReservation, recoverableReservations } from './reservation.ts';
import type { NewReservation, Reservation } from './reservation.ts';
import type { Runtime } from './runtime.ts';
import { endOfTask, keepTask } from './task.ts';

/** The result of a round of recovery. */
export interface RecoveryRound {
  readonly settled: number;
  /** Reservations that could not be settled because a port or the store failed. The next round tries again. */
  readonly failures: readonly { readonly reservation: string; readonly error: unknown }[];
  /** Those whose deliveries are undone or started again. */
  readonly failedTasks: readonly FailedTask[];
}

/** A task that failed at its end. */
export interface FailedTask {
  readonly reservation: string;
  readonly task: string;
  readonly reason: string;
}

/**
 * Settles every delivery that was interrupted or enqueued: those of dead instances, and those of this instance that it is not
 * delivering at the moment.
 *
 * @param skipped Reservations that have just failed.
 * @param subject Settles only deliveries about it.
 */
export async function recoverDeliveries(runtime: Runtime, skipped: ReadonlySet<string>, subject?: Subject): Promise<RecoveryRound> {
  const { store, instance, closing } = runtime;
  const reservations = await recoverableReservations(store, instance, subject);
  let settled = 0;
  const failures: RecoveryRound['failures'][number][] = [];
  const failedTasks: FailedTask[] = [];
  async function recover(reservation: Reservation): Promise<void> {
    if (skipped.has(reservation.id)) return;
    try {
      if (await recoverReservation(runtime, reservation, (failed) => failedTasks.push(failed))) settled++;
    } catch (error) {
      failures.push({ reservation: reservation.id, error });
    }
  }
  const { maxConcurrentDeliveries: max, deliveryWaitMs: waitMs } = store.tuning;
  await forEachConcurrently(reservations, recover, { max, waitMs, closing });
  return { settled, failures, failedTasks };
}

/**
 * Settles a reservation, unless this instance is delivering it at the moment.
 *
 * @param onFailedTask Called if the task for which it waits has failed.
 * @returns Whether it is settled.
 * @throws If a port or the store fails.
 */
export async function recoverReservation(
  runtime: Runtime,
  reservation: Reservation,
  onFailedTask: (failed: FailedTask) => void,
): Promise<boolean> {
  const { instance, deliveries } = runtime;
  const { id, delivery } = reservation;
  if (instance.delivering.has(id)) return false;
  instance.delivering.add(id);
  try {
    const known = deliveries[delivery];
    if (!known) throw new Error(`The reservation ${id} names an unknown delivery: ${delivery}.`);
    const details = v.parse(known.details, JSON.parse(reservation.details));
    const recovered = { ...reservation, subject: known.subject(details) };
    const completion = await completionOf(runtime, known, { reservation: recovered, details }, onFailedTask);
    if (!completion) return false;
    const outcome = await completeReservation(runtime, recovered, completion, ({ db }) => forgetReservedKey(db, reservation));
    return outcome !== undefined && outcome !== 'started';
  } finally {
    instance.delivering.delete(id);
  }
}

/** How a reservation is completed. Undefined if it waits for a task. */
async function completionOf(
  runtime: Runtime,
  known: AnyDelivery,
  { reservation, details }: { readonly reservation: Reservation & NewReservation; readonly details: unknown },
  onFailedTask: (failed: FailedTask) => void,
): Promise<Completion<unknown> | undefined> {
  const { id, subject, task, undoing: isUndone } = reservation;
  if (task === null) return recovering(known, details);
  const end = await endOfTask(runtime, { id, subject, task });
  if (end === undefined) return undefined;
  if (end.status === 'succeeded') return endingAfterTask(runtime, known, { details, isUndone });
  onFailedTask({ reservation: id, task, reason: end.reason });
  return recovering(known, details);
}

/**
 * Claims a reservation, calls the port with a new token, and deletes the reservation in the transaction that ends the delivery.
 *
 * @param ended Runs last in that transaction, with the result.
 * @returns `started` if the port has started a task for it, undefined if the reservation is gone or another live instance owns it.
 */
export async function completeReservation<Result, Outcome>(
  { store, ports, instance }: Runtime,
  reservation: NewReservation,
  completion: Completion<Result>,
  ended: (transaction: Transaction, result: Result) => Promise<Outcome>,
): Promise<{ readonly outcome: Outcome } | 'started' | undefined> {
  const token = await claimReservation(store, instance, reservation);
  if (token === undefined) return undefined;
  const started = await completion.call(ports, token);
  if (started) {
    await store.commit(({ db }) => keepTask(db, reservation.id, { instance, started, undoing: completion.undoes }));
    return 'started';
  }
  return store.commit(
    async (transaction) => {
      if (!(await deleteReservation(transaction.db, reservation.id, instance))) return undefined;
      return { outcome: await ended(transaction, await completion.store(transaction, ports)) };
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
