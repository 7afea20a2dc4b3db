/**
 * Deliveries whose port call has started a task. The request ends with a response that says so, the reservation stays, and recovery waits for
 * the task on any instance, as long as it runs. Then the delivery is made final, or undone if the task failed.
 */
import type { StartedTask, Subject, TaskState } from '@reseller/adapters';

import type { Ports } from '../ports/ports.ts';
import type { Db } from '../store/store.ts';
import type { Instance } from './instance.ts';
import { releaseReservation, ReservationLostError } from './reservation.ts';
import type { Runtime } from './runtime.ts';

/** The task for which a reservation waits. */
interface AwaitedTask {
  /** Of the reservation. */
  readonly id: string;
  readonly subject: Subject;
  readonly task: string;
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

/**
 * Asks for the end of a task. Undefined while it runs.
 *
 * @throws If the port does not say it. The service then asks again later, because only a failed task is undone.
 */
export async function endOfTask(
  runtime: Runtime,
  { id, subject, task }: AwaitedTask,
): Promise<Exclude<TaskState, { status: 'running' }> | undefined> {
  const state = await stateOfTask(runtime.ports, subject, task);
  if (state.status === 'running') {
    await storePercentage(runtime, id, state);
    return undefined;
  }
  // From here on the delivery of a failed task is an interrupted one, so the system may forget the task.
  if (state.status === 'failed')
    await runtime.store.commit(({ db }) => db.updateTable('reservations').set({ task: null }).where('id', '=', id).execute());
  return state;
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
