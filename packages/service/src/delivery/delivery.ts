/**
 * A delivery is a change that needs the infrastructure: a VM is created, a domain gets other nameservers. A function carries it out in three
 * steps (see steps.ts), so that an interruption at any moment loses nothing and does nothing twice:
 *
 * 1. `reserve` stores what the change takes (credit, addresses, room) together with a reservation. One transaction.
 * 2. `call` calls a port with the reservation's fencing token. No transaction.
 * 3. `confirm` makes the change final and deletes the reservation. One transaction.
 *
 * If step 2 or 3 fails, or the process dies, the reservation determines the recovery. This file describes what recovery needs: the name and the
 * details that the reservation stores, and how the delivery ends from them. A delivery that gives something is undone. One that takes something
 * away (billing has ended already) is finished: its call and its end run again until they succeed.
 *
 * A port may start a task in step 2. Its delivery waits for it before step 3, however long it runs (see task.ts).
 */
import type { DoneOrStarted, FencingToken, Subject } from '@reseller/adapters';
import type * as v from 'valibot';

import type { Ports } from '../ports/ports.ts';
import type { Transaction } from '../store/store.ts';
import type { Runtime } from './runtime.ts';

interface DeliveryBase<Details> {
  /** Stored with a reservation. Recovery finds the delivery by it, so it never changes. */
  readonly name: string;
  /** Shape of the details that are stored with a reservation. Recovery reads nothing else, so they hold no secrets. */
  readonly details: v.GenericSchema<unknown, Details>;
  /** The VM, domain or server that the port calls are about. */
  subject(details: Details): Subject;
  /** The message for the operator if a port fails. Without it the caller gets the port's own error. */
  describeFailure?(details: Details, isSettled: boolean): string;
}

/** How a delivery ends from its details. */
interface End<Details, Result> {
  /** Must be idempotent. */
  call(ports: Ports, details: Details, token: FencingToken): Promise<DoneOrStarted>;
  /** Runs in the transaction that deletes the reservation. */
  store(transaction: Transaction, details: Details, ports: Ports): Promise<Result>;
}

/** A change that is undone if it fails. */
export interface UndoableDelivery<Details> extends DeliveryBase<Details> {
  /** Undoes what the call did, or may still do, and gives back what the reservation took. */
  readonly undo: End<Details, void>;
  /** Whether nothing is left of a call that was undone, so that a call that failed has changed nothing for the account. */
  readonly leavesNoTrace?: boolean;
  /** Makes the change final after its task. Missing if the port starts no tasks for this delivery. */
  afterTask?(transaction: Transaction, details: Details, runtime: Runtime): Promise<void>;
}

/** A change that is finished if it fails. */
export interface FinishableDelivery<Details, Result = void> extends DeliveryBase<Details> {
  readonly finish: End<Details, Result>;
}

export type Delivery<Details, Result> = UndoableDelivery<Details> | FinishableDelivery<Details, Result>;

/** A delivery of any kind. */
export type AnyDelivery = Delivery<unknown, unknown>;

/** The rest of a delivery after its reservation: a port call, then the transaction that deletes the reservation. */
export interface Completion<Result> {
  call(ports: Ports, token: FencingToken): Promise<DoneOrStarted>;
  store(transaction: Transaction, ports: Ports): Promise<Result>;
  /** Whether it undoes the delivery. */
  readonly undoes: boolean;
}

export function undoing<Details>({ undo }: UndoableDelivery<Details>, details: Details): Completion<void> {
  return { ...completing(undo, details), undoes: true };
}

export function finishing<Details, Result>({ finish }: FinishableDelivery<Details, Result>, details: Details): Completion<Result> {
  return { ...completing(finish, details), undoes: false };
}

/** How an interrupted delivery ends. */
export function recovering<Details>(delivery: Delivery<Details, unknown>, details: Details): Completion<unknown> {
  return 'undo' in delivery ? undoing(delivery, details) : finishing(delivery, details);
}

/** How a delivery ends after its task has succeeded: nothing is left to call. @param isUndone Whether the task undid the delivery. */
export function endingAfterTask<Details>(
  runtime: Runtime,
  delivery: Delivery<Details, unknown>,
  { details, isUndone }: { readonly details: Details; readonly isUndone: boolean },
): Completion<unknown> {
  const completion = { ...recovering(delivery, details), async call() {} };
  if (isUndone || !('undo' in delivery)) return completion;
  return { ...completion, store: async (transaction) => delivery.afterTask?.(transaction, details, runtime) };
}

function completing<Details, Result>(end: End<Details, Result>, details: Details): Pick<Completion<Result>, 'call' | 'store'> {
  return {
    call: (ports, token) => end.call(ports, details, token),
    store: (transaction, ports) => end.store(transaction, details, ports),
  };
}
