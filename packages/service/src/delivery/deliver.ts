import type { FencingToken } from '@reseller/adapters';

import { originOf, PortTimeoutError, SYSTEMS, wasNotSent } from '../ports/outage.ts';
import type { SimulatedPort } from '../ports/ports.ts';
import { Refusal } from '../rules/refusal.ts';
import { StoreUnavailableError } from '../store/store.ts';
import type { Transaction } from '../store/store.ts';
import { beginDelivery } from './delivery.ts';
import type { BegunDelivery, Delivery } from './delivery.ts';
import { completeReservation, forgetReservedKey } from './recover.ts';
import { deleteReservation, keepReservation, ReservationLostError } from './reservation.ts';
import type { NewReservation } from './reservation.ts';
import type { Runtime } from './runtime.ts';
import { respondToTask } from './task.ts';

/** The hypervisor, the fleet, the registrar or the DNS server failed. The message says what happens to the change. */
export class InfrastructureError extends Error {
  override readonly name = 'InfrastructureError';
  /** Undefined if it is not known which one failed. */
  readonly system: SimulatedPort | undefined;

  constructor(message: string, { cause, system = originOf(cause) }: { readonly cause?: unknown; readonly system?: SimulatedPort } = {}) {
    super(message, { cause });
    this.system = system;
  }
}

/** The state of a delivery whose port failed. */
interface FailedCall {
  readonly isSettled: boolean;
  readonly leavesNoTrace: boolean;
}

/** The error for the caller of a port that is away, if the call has certainly changed nothing. Otherwise the given error. */
export function outageOr(error: unknown, { isSettled, leavesNoTrace }: FailedCall = { isSettled: true, leavesNoTrace: false }): unknown {
  const system = originOf(error);
  if (system === undefined) return error;
  const again = isSettled
    ? 'Wait the number of seconds in Retry-After, then send the request again.'
    : 'What was reserved for it is free again when the service reaches the system. Send the request again later.';
  if (wasNotSent(error))
    return new InfrastructureError(`The ${SYSTEMS[system]} cannot be reached, so nothing was changed. ${again}`, { cause: error });
  if (leavesNoTrace && error instanceof PortTimeoutError)
    return new InfrastructureError(
      `The ${SYSTEMS[system]} did not respond in time, so the purchase is undone, and nothing of it is billed. ${again}`,
      { cause: error },
    );
  return error;
}

/** How a delivery ended: with its result, or refused before anything was delivered. */
export type EndedDelivery<Result> = { readonly result: Result } | { readonly refusal: Refusal };

/** One delivery to carry out. */
export interface DeliveryOrder<Request, Result, Outcome> {
  readonly id: string;
  readonly request: Request;
  /** Hash of the caller's Idempotency-Key, or null. */
  readonly keyHash: string | null;
  /** Runs first in the first transaction. An outcome ends the delivery, such as the stored response of a repeated request. */
  claim(transaction: Transaction): Promise<Outcome | undefined>;
  /** Runs last in the transaction that ends the delivery, and turns its end into the outcome. After a refusal the changes are rolled back. */
  record(transaction: Transaction, ended: EndedDelivery<Result>): Promise<Outcome>;
}

/** A delivery whose reservation is stored. */
interface ReservedDelivery<Result> {
  readonly begun: BegunDelivery<Result>;
  readonly reservation: NewReservation;
  /** Known after the commit. */
  readonly token: Promise<FencingToken>;
}

/**
 * Carries out a delivery.
 *
 * @throws Refusal if the port refuses the change. Nothing has changed then. A refusal of the reservation goes to `record`.
 * @throws InfrastructureError if a port fails and the delivery describes its failures, or if the port is away and nothing was changed. Otherwise
 *   the port's own error is thrown.
 * @throws StoreUnavailableError if the store fails, or another instance has taken over the reservation.
 */
export async function deliver<Request, Details, Plan, Result, Outcome>(
  runtime: Runtime,
  delivery: Delivery<Request, Details, Plan, Result>,
  order: DeliveryOrder<Request, Result, Outcome>,
): Promise<Outcome> {
  const { deliveries, instance } = runtime;
  if (!deliveries[delivery.name]) throw new Error(`Recovery does not know the delivery ${delivery.name}. Add it to the registry.`);
  // Recovery skips what this instance is delivering.
  instance.delivering.add(order.id);
  try {
    const reserved = await reserveStep(runtime, delivery, order).catch((error: unknown) => {
      throw outageOr(error);
    });
    if ('outcome' in reserved) return reserved.outcome;
    return await callAndConfirmStep(runtime, order, reserved);
  } finally {
    instance.delivering.delete(order.id);
  }
}

function reserveStep<Request, Details, Plan, Result, Outcome>(
  { store, instance, ports }: Runtime,
  delivery: Delivery<Request, Details, Plan, Result>,
  order: DeliveryOrder<Request, Result, Outcome>,
): Promise<{ readonly outcome: Outcome } | ReservedDelivery<Result>> {
  const { id, request, keyHash } = order;
  return store.commit(async (transaction) => {
    try {
      const earlier = await order.claim(transaction);
      if (earlier !== undefined) return { outcome: earlier };
      const begun = await beginDelivery(delivery, transaction, request);
      if ('result' in begun) return { outcome: await order.record(transaction, begun) };
      const { accountId, subject, details } = begun;
      const reservation = { id, accountId, delivery: delivery.name, details, keyHash, subject };
      const token = keepReservation(transaction, reservation, { owner: instance, now: ports.clock.now() });
      return { begun, reservation, token };
    } catch (refusal) {
      if (!(refusal instanceof Refusal)) throw refusal;
      await transaction.rollBack();
      return { outcome: await order.record(transaction, { refusal }) };
    }
  });
}

async function callAndConfirmStep<Request, Result, Outcome>(
  runtime: Runtime,
  order: DeliveryOrder<Request, Result, Outcome>,
  { begun, reservation, token }: ReservedDelivery<Result>,
): Promise<Outcome> {
  const { store, ports, instance } = runtime;
  let isCalled = false;
  try {
    const { completion } = begun;
    const started = await completion.call(ports, await token);
    if (started) return await respondToTask(runtime, { begun, reservation, started }, order.record);
    isCalled = true;
    return await store.commit(
      async (transaction) => {
        if (!(await deleteReservation(transaction.db, reservation.id, instance))) throw new ReservationLostError();
        return order.record(transaction, { result: await completion.confirm(transaction, ports) });
      },
      { isUrgent: true },
    );
  } catch (error) {
    // The other instance calls the port with a higher token, so nothing is left to do here.
    if (error instanceof ReservationLostError) throw error;
    const state = await endAfterFailure(runtime, order, { begun, reservation });
    if (typeof state === 'object') return state.outcome;
    if (error instanceof Refusal) throw error;
    // The port rejects the calls of an instance that has lost its reservation.
    if (state === 'lost' && !isCalled) throw new ReservationLostError({ cause: error });
    if (error instanceof StoreUnavailableError) throw error;
    const isSettled = state === 'undone';
    const description = begun.describeFailure(isSettled);
    if (description === undefined) throw begun.undo ? outageOr(error, { isSettled, leavesNoTrace: begun.leavesNoTrace }) : error;
    throw new InfrastructureError(description, { cause: error });
  }
}

/** Undoes or finishes a failed delivery immediately. If that fails too, recovery tries again. */
async function endAfterFailure<Request, Result, Outcome>(
  runtime: Runtime,
  order: DeliveryOrder<Request, Result, Outcome>,
  { begun: { completion, undo }, reservation }: Pick<ReservedDelivery<Result>, 'begun' | 'reservation'>,
): Promise<{ readonly outcome: Outcome } | 'undone' | 'lost' | 'pending'> {
  try {
    if (!undo) {
      const finished = await completeReservation(runtime, reservation, completion, (transaction, result) =>
        order.record(transaction, { result }),
      );
      return finished === 'started' ? 'pending' : (finished ?? 'lost');
    }
    const undone = await completeReservation(runtime, reservation, undo, ({ db }) => forgetReservedKey(db, reservation));
    return undone === 'started' ? 'pending' : undone ? 'undone' : 'lost';
  } catch {
    return 'pending';
  }
}
