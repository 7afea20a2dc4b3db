/**
 * Deliveries whose port call has started a task. The request ends with a response that says so, the reservation stays, and recovery waits for
 * the task on any instance, as long as it runs. Then the delivery is made final, or undone if the task failed.
 */
import type { StartedTask, Subject, TaskState } from '@reseller/adapters';

import type { Ports } from '../ports/ports.ts';
import type { Db, Transaction } from '../store/store.ts';
import { recovering, taskEnd } from './delivery.ts';
import type { AnyDelivery, BegunDelivery } from './delivery.ts';
import type { Instance } from './instance.ts';
import { releaseReservation, ReservationLostError } from './reservation.ts';
import type { NewReservation, Reservation } from './reservation.ts';
import type { Runtime } from './runtime.ts';

/** A reservation that waits for a task. */
export interface WaitingReservation extends Reservation {
  readonly task: string;
}

/** Ends the request of a delivery whose task goes on. */
export async function respondToTask<Result, Outcome>(
  { store, instance }: Runtime,
  { begun, reservation, started }: { begun: BegunDelivery<Result>; reservation: NewReservation; started: StartedTask },
  record: (transaction: Transaction, ended: { readonly result: Result }) => Promise<Outcome>,
): Promise<Outcome> {
  const { beginTask } = begun;
  if (!beginTask) throw new Error(`The port started a task, for which the delivery ${reservation.delivery} cannot wait.`);
  return store.commit(
    async (transaction) => {
      await keepTask(transaction.db, reservation.id, { instance, started, undoing: false });
      return record(transaction, { result: await beginTask(transaction) });
    },
    { isUrgent: true },
  );
}

interface KeptTask {
  readonly instance: Instance;
  readonly started: StartedTask;
  /** Whether the task undoes the delivery. */
  readonly undoing: boolean;
}

/**
 * Stores the task for which a reservation waits from now on. Every instance may then ask for it.
 *
 * @throws ReservationLostError if another instance has taken over the reservation.
 */
export async function keepTask(db: Db, id: string, { instance, started: { task }, undoing }: KeptTask): Promise<void> {
  const kept = await releaseReservation(db, id, instance, { task, task_percentage: null, undoing: undoing ? 1 : 0 });
  if (!kept) throw new ReservationLostError();
}

/** What recovery does next with a reservation that waits for a task. */
export type Next =
  | { readonly next: 'wait' }
  | { readonly next: 'complete'; readonly delivered: ReturnType<typeof recovering>; readonly failure?: string };

/**
 * Asks for the state of a task.
 *
 * @throws If the port does not say it. The service then asks again later, because only a failed task is undone.
 */
export async function stepAfterTask(runtime: Runtime, known: AnyDelivery, reservation: WaitingReservation): Promise<Next> {
  const delivered = recovering(known, reservation.details);
  const state = await stateOfTask(runtime.ports, delivered.subject, reservation.task);
  if (state.status === 'running') {
    await storePercentage(runtime, reservation.id, state);
    return { next: 'wait' };
  }
  if (state.status === 'failed') {
    // From here on the delivery is an interrupted one, so the system may forget the task.
    await runtime.store.commit(({ db }) => db.updateTable('reservations').set({ task: null }).where('id', '=', reservation.id).execute());
    return { next: 'complete', delivered, failure: state.reason };
  }
  return { next: 'complete', delivered: { ...delivered, completion: taskEnd(runtime, known, reservation) } };
}

function stateOfTask({ hypervisor, registrar }: Ports, subject: Subject, task: string): Promise<TaskState> {
  const port = subject.startsWith('vm/') ? hypervisor : registrar;
  const state = port.task?.(task);
  if (!state) throw new Error(`The adapter cannot say the state of the task ${task}, which is about ${subject}. It has no function task.`);
  return state;
}

async function storePercentage({ store }: Runtime, id: string, { percentage }: { readonly percentage: number | null }): Promise<void> {
  const rounded = percentage === null ? null : Math.floor(percentage);
  const stored = await store.read((db) => db.selectFrom('reservations').select('task_percentage').where('id', '=', id).executeTakeFirst());
  if (!stored || stored.task_percentage === rounded) return;
  await store.commit(({ db }) => db.updateTable('reservations').set({ task_percentage: rounded }).where('id', '=', id).execute());
}
