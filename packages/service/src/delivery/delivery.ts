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
 */
import * as v from 'valibot';

import type { FencingToken, Subject } from '../ports/fencing.ts';
import type { Ports } from '../ports/ports.ts';
import type { AfterCommit, Transaction } from '../store/store.ts';

interface DeliveryBase<Details> {
  /** Stored with a reservation. Recovery finds the delivery by it, so it never changes. */
  readonly name: string;
  /** Whether `reserve` and `confirm` draw no random numbers. The store may then run them optimistically. */
  readonly isRepeatable?: boolean;
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
  ): Promise<(Reserved<Details> & { readonly plan: AfterCommit<Plan> }) | NothingToDeliver<Result>>;
  call(ports: Ports, plan: Plan, token: FencingToken): Promise<void>;
  confirm(transaction: Transaction, plan: Plan): Promise<Result>;
  /** Undoes what `call` did, or may still do. Must be idempotent. */
  compensate(ports: Ports, details: Details, token: FencingToken): Promise<void>;
  rollBack(transaction: Transaction, details: Details): Promise<void>;
}

/** A change that is finished if it fails. */
export interface FinishableDelivery<Request, Details, Result> extends DeliveryBase<Details> {
  readonly recovery: 'finish';
  reserve(transaction: Transaction, request: Request): Promise<Reserved<Details> | NothingToDeliver<Result>>;
  /** Must be idempotent. */
  call(ports: Ports, details: Details, token: FencingToken): Promise<void>;
  confirm(transaction: Transaction, details: Details): Promise<Result>;
}

export type Delivery<Request, Details, Plan, Result> =
  | UndoableDelivery<Request, Details, Plan, Result>
  | FinishableDelivery<Request, Details, Result>;

export interface Reserved<Details> {
  readonly accountId: string;
  readonly details: Details;
}

/** The change is already in place. */
export interface NothingToDeliver<Result> {
  readonly result: Result;
}

/** The part of a delivery after its reservation: a port call, then a transaction that ends the reservation. */
export interface Settlement<Result> {
  call(ports: Ports, token: FencingToken): Promise<void>;
  conclude(transaction: Transaction): Promise<Result>;
}

/** A delivery after its reservation, with its details filled in. */
export interface BegunDelivery<Result> {
  readonly accountId: string;
  readonly subject: Subject;
  /** JSON text. */
  readonly details: string;
  readonly isRepeatable: boolean;
  readonly confirmation: AfterCommit<Settlement<Result>>;
  /** What happens if the confirmation fails. */
  readonly recovery:
    | { readonly kind: 'undo'; readonly settlement: Settlement<void> }
    | { readonly kind: 'finish'; readonly settlement: Settlement<Result> };
  describeFailure(isSettled: boolean): string | undefined;
}

/** Runs the first step of a delivery. */
export async function begin<Request, Details, Plan, Result>(
  delivery: Delivery<Request, Details, Plan, Result>,
  transaction: Transaction,
  request: Request,
): Promise<BegunDelivery<Result> | NothingToDeliver<Result>> {
  if (delivery.recovery === 'finish') {
    const reserved = await delivery.reserve(transaction, request);
    if ('result' in reserved) return reserved;
    const settlement = finish(delivery, reserved.details);
    return { ...facts(delivery, reserved), confirmation: () => settlement, recovery: { kind: 'finish', settlement } };
  }
  const reserved = await delivery.reserve(transaction, request);
  if ('result' in reserved) return reserved;
  return {
    ...facts(delivery, reserved),
    confirmation: () => confirm(delivery, reserved.plan()),
    recovery: { kind: 'undo', settlement: undo(delivery, reserved.details) },
  };
}

function facts<Details>(
  delivery: DeliveryBase<Details>,
  { accountId, details }: Reserved<Details>,
): Pick<BegunDelivery<never>, 'accountId' | 'subject' | 'details' | 'isRepeatable' | 'describeFailure'> {
  return {
    accountId,
    subject: delivery.subject(details),
    details: JSON.stringify(details),
    isRepeatable: delivery.isRepeatable === true,
    describeFailure: (isSettled) => delivery.describeFailure?.(details, isSettled),
  };
}

/** Reads the stored details of a reservation, and returns how to settle the interrupted delivery. */
export type Recover = (storedDetails: string) => { readonly subject: Subject; readonly settlement: Settlement<unknown> };

/** A delivery of any kind. */
export type AnyDelivery = Delivery<never, unknown, unknown, unknown>;

/** The registry, in which recovery finds each delivery by its name. It needs neither requests nor plans. */
export function registryOf(deliveries: readonly AnyDelivery[]): Readonly<Record<string, Recover>> {
  return Object.fromEntries(deliveries.map((delivery) => [delivery.name, recoverable(delivery)]));
}

function recoverable(delivery: AnyDelivery): Recover {
  return (storedDetails) => {
    const details = v.parse(delivery.details, JSON.parse(storedDetails));
    const settlement = delivery.recovery === 'undo' ? undo(delivery, details) : finish(delivery, details);
    return { subject: delivery.subject(details), settlement };
  };
}

function confirm<Request, Details, Plan, Result>(
  delivery: UndoableDelivery<Request, Details, Plan, Result>,
  plan: Plan,
): Settlement<Result> {
  return {
    call: (ports, token) => delivery.call(ports, plan, token),
    conclude: (transaction) => delivery.confirm(transaction, plan),
  };
}

function undo<Request, Details, Plan, Result>(
  delivery: UndoableDelivery<Request, Details, Plan, Result>,
  details: Details,
): Settlement<void> {
  return {
    call: (ports, token) => delivery.compensate(ports, details, token),
    conclude: (transaction) => delivery.rollBack(transaction, details),
  };
}

function finish<Request, Details, Result>(delivery: FinishableDelivery<Request, Details, Result>, details: Details): Settlement<Result> {
  return {
    call: (ports, token) => delivery.call(ports, details, token),
    conclude: (transaction) => delivery.confirm(transaction, details),
  };
}
