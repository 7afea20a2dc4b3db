/**
 * A delivery is a change that needs the infrastructure: a VM is created, a domain gets other nameservers. It has three steps, so that an
 * interruption at any moment loses nothing and does nothing twice:
 *
 * 1. `reserve` stores what the change takes (credit, addresses, room) together with a reservation. One transaction.
 * 2. `call` calls a port with the reservation's fencing token. No transaction.
 * 3. `confirm` makes the change final and deletes the reservation. One transaction.
 *
 * If step 2 or 3 fails, or the process dies, the reservation determines the recovery. A delivery that gives something is undone.
 * `compensate` calls the port, and `rollBack` restores the store. A delivery that takes something away (billing has ended already) is
 * finished. Steps 2 and 3 run again until they succeed.
 *
 * A port may start a task in step 2. Its delivery waits for it before step 3, however long it runs (see task.ts).
 */
import type { DoneOrStarted, FencingToken, Subject } from '@reseller/adapters';
import * as v from 'valibot';

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

/** A change that is undone if it fails. */
export interface UndoableDelivery<Request, Details, Plan, Result> extends DeliveryBase<Details> {
  readonly recovery: 'undo';
  /** Returns the result if there is nothing to deliver. The plan is never stored, so it may hold secrets. */
  reserve(
    transaction: Transaction,
    request: Request,
  ): Promise<{ readonly accountId: string; readonly details: Details; readonly plan: Plan } | { readonly result: Result }>;
  call(ports: Ports, plan: Plan, token: FencingToken): Promise<DoneOrStarted>;
  confirm(transaction: Transaction, plan: Plan): Promise<Result>;
  /** Undoes what `call` did, or may still do. Must be idempotent. */
  compensate(ports: Ports, details: Details, token: FencingToken): Promise<DoneOrStarted>;
  rollBack(transaction: Transaction, details: Details): Promise<void>;
  /** Whether nothing is left of a call that was undone, so that a call without a response has changed nothing for the account. */
  readonly leavesNoTrace?: boolean;
  /** Missing if the port starts no tasks for this delivery. */
  readonly asTask?: {
    /** Makes the change visible while its task runs, and returns the response to its request. */
    begin(transaction: Transaction, plan: Plan): Promise<Result>;
    /** Makes the change final after its task, in the place of `confirm`. The plan is gone by then. */
    finish(transaction: Transaction, details: Details, runtime: Runtime): Promise<void>;
  };
}

/** A change that is finished if it fails. */
export interface FinishableDelivery<Request, Details, Result> extends DeliveryBase<Details> {
  readonly recovery: 'finish';
  /** Returns the result if there is nothing to deliver. */
  reserve(
    transaction: Transaction,
    request: Request,
  ): Promise<{ readonly accountId: string; readonly details: Details } | { readonly result: Result }>;
  /** Must be idempotent. */
  call(ports: Ports, details: Details, token: FencingToken): Promise<DoneOrStarted>;
  confirm(transaction: Transaction, details: Details, ports: Ports): Promise<Result>;
  /** Missing if the port starts no tasks for this delivery. */
  readonly asTask?: {
    /** Returns the response to the request while the task runs. */
    begin(transaction: Transaction, details: Details): Promise<Result>;
  };
}

export type Delivery<Request, Details, Plan, Result> =
  | UndoableDelivery<Request, Details, Plan, Result>
  | FinishableDelivery<Request, Details, Result>;

/** A delivery of any kind. */
export type AnyDelivery = Delivery<never, unknown, unknown, unknown>;

/** The part of a delivery after its reservation: a port call, then the transaction that ends the reservation. */
export interface Completion<Result> {
  call(ports: Ports, token: FencingToken): Promise<DoneOrStarted>;
  confirm(transaction: Transaction, ports: Ports): Promise<Result>;
  /** Whether it undoes the delivery. */
  readonly undoes?: boolean;
}

/** A delivery after `reserve`. */
export interface BegunDelivery<Result> {
  readonly accountId: string;
  readonly subject: Subject;
  /** JSON text. */
  readonly details: string;
  readonly completion: Completion<Result>;
  /** Undefined if a failed delivery is finished by its completion. */
  readonly undo: Completion<void> | undefined;
  /** Ends the request while a task goes on. Undefined if the delivery cannot wait for one. */
  readonly beginTask: ((transaction: Transaction) => Promise<Result>) | undefined;
  describeFailure(isSettled: boolean): string | undefined;
  readonly leavesNoTrace: boolean;
}

/** Runs the first step of a delivery. */
export async function beginDelivery<Request, Details, Plan, Result>(
  delivery: Delivery<Request, Details, Plan, Result>,
  transaction: Transaction,
  request: Request,
): Promise<BegunDelivery<Result> | { readonly result: Result }> {
  if (delivery.recovery === 'finish') {
    const reserved = await delivery.reserve(transaction, request);
    if ('result' in reserved) return reserved;
    const { accountId, details } = reserved;
    return {
      accountId,
      ...factsOf(delivery, details),
      completion: bind(delivery, details),
      undo: undefined,
      leavesNoTrace: false,
      beginTask: beginningOf(delivery.asTask, details),
    };
  }
  const reserved = await delivery.reserve(transaction, request);
  if ('result' in reserved) return reserved;
  const { accountId, details, plan } = reserved;
  return {
    accountId,
    ...factsOf(delivery, details),
    completion: bind(delivery, plan),
    undo: undoing(delivery, details),
    leavesNoTrace: delivery.leavesNoTrace ?? false,
    beginTask: beginningOf(delivery.asTask, plan),
  };
}

/** How recovery ends an interrupted delivery, from the stored details of its reservation. */
export function recovering(
  delivery: AnyDelivery,
  storedDetails: string,
): { readonly subject: Subject; readonly completion: Completion<unknown> } {
  const details = v.parse(delivery.details, JSON.parse(storedDetails));
  const completion = delivery.recovery === 'undo' ? undoing(delivery, details) : bind(delivery, details);
  return { subject: delivery.subject(details), completion };
}

/** The end of a delivery whose task has succeeded: nothing is left to call. */
export function taskEnd(
  runtime: Runtime,
  delivery: AnyDelivery,
  { details: storedDetails, undoing: isUndoing }: { readonly details: string; readonly undoing: boolean },
): Completion<unknown> {
  const details = v.parse(delivery.details, JSON.parse(storedDetails));
  async function call() {}
  if (delivery.recovery === 'finish') return { call, confirm: (transaction, ports) => delivery.confirm(transaction, details, ports) };
  if (isUndoing) return { call, confirm: (transaction) => delivery.rollBack(transaction, details) };
  return { call, confirm: async (transaction) => delivery.asTask?.finish(transaction, details, runtime) };
}

/** @param plan What `reserve` has returned for the other steps: the details, or a plan. */
function beginningOf<Plan, Result>(
  asTask: { begin(transaction: Transaction, plan: Plan): Promise<Result> } | undefined,
  plan: Plan,
): BegunDelivery<Result>['beginTask'] {
  return asTask && ((transaction) => asTask.begin(transaction, plan));
}

function factsOf<Details>(
  delivery: DeliveryBase<Details>,
  details: Details,
): Pick<BegunDelivery<never>, 'subject' | 'details' | 'describeFailure'> {
  return {
    subject: delivery.subject(details),
    details: JSON.stringify(details),
    describeFailure: (isSettled) => delivery.describeFailure?.(details, isSettled),
  };
}

/** @param plan What `reserve` has returned for the other steps: the details, or a plan. */
function bind<Plan, Result>(
  { call, confirm }: Pick<FinishableDelivery<never, Plan, Result>, 'call' | 'confirm'>,
  plan: Plan,
): Completion<Result> {
  return { call: (ports, token) => call(ports, plan, token), confirm: (transaction, ports) => confirm(transaction, plan, ports) };
}

function undoing<Details>(
  { compensate, rollBack }: Pick<UndoableDelivery<never, Details, never, never>, 'compensate' | 'rollBack'>,
  details: Details,
): Completion<void> {
  return { ...bind({ call: compensate, confirm: rollBack }, details), undoes: true };
}
