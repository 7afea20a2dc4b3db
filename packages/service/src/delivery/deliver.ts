import type { FencingToken } from '../ports/fencing.ts';
import { Refusal } from '../rules/refusal.ts';
import { StoreUnavailableError } from '../store/store.ts';
import type { Transaction } from '../store/store.ts';
import { start } from './delivery.ts';
import type { Delivery, Started } from './delivery.ts';
import { forgetReservedKey, settleReservation } from './recover.ts';
import { deleteReservation, keepReservation, ReservationLostError } from './reservation.ts';
import type { NewReservation } from './reservation.ts';
import type { Runtime } from './runtime.ts';

/** The hypervisor, the fleet or the registrar failed. The message says what happens to the change. */
export class InfrastructureError extends Error {
  override readonly name = 'InfrastructureError';
}

/** One delivery to carry out. */
export interface DeliveryOrder<Request, Result, Outcome> {
  readonly id: string;
  /** Name of the delivery in the registry. */
  readonly name: string;
  readonly request: Request;
  /** Hash of the caller's Idempotency-Key, or null. */
  readonly keyHash: string | null;
  /**
   * Runs in the first transaction, around the reservation. An API adds its own part here, such as the claim of an Idempotency-Key.
   * An outcome ends the delivery.
   */
  reserving(transaction: Transaction, reserve: () => Promise<Outcome | undefined>): Promise<Outcome | undefined>;
  /** Runs in the transaction that makes the result final, and turns the result into the outcome. */
  confirming(transaction: Transaction, result: Result): Promise<Outcome>;
}

/** A delivery whose reservation is stored. */
interface Stored<Result> {
  readonly started: Started<Result>;
  readonly reservation: NewReservation;
  /** Known after the commit. */
  token(): FencingToken;
}

/**
 * Carries out a delivery.
 *
 * @throws Refusal if the store or the port refuses the change. Nothing has changed then.
 * @throws InfrastructureError if a port fails and the delivery describes its failures. Otherwise the port's own error is thrown.
 * @throws StoreUnavailableError if the store fails, or another instance has taken over the reservation.
 */
export async function deliver<Request, Details, Plan, Result, Outcome>(
  runtime: Runtime,
  delivery: Delivery<Request, Details, Plan, Result>,
  order: DeliveryOrder<Request, Result, Outcome>,
): Promise<Outcome> {
  const { delivering } = runtime.instance;
  // Recovery skips what this instance is delivering.
  delivering.add(order.id);
  try {
    if (delivery.recovery === 'undo') delivery.draw?.(order.request);
    const reserved = await reserve(runtime, delivery, order);
    if ('outcome' in reserved) return reserved.outcome;
    return await callAndConfirm(runtime, order, reserved, delivery.isRepeatable === true);
  } finally {
    delivering.delete(order.id);
  }
}

function reserve<Request, Details, Plan, Result, Outcome>(
  { store, instance, ports }: Runtime,
  delivery: Delivery<Request, Details, Plan, Result>,
  order: DeliveryOrder<Request, Result, Outcome>,
): Promise<{ readonly outcome: Outcome } | Stored<Result>> {
  const { id, name, request, keyHash } = order;
  return store.commit(
    async (transaction) => {
      let stored: Stored<Result> | undefined;
      const outcome = await order.reserving(transaction, async () => {
        const started = await start(delivery, transaction, request);
        if ('result' in started) return order.confirming(transaction, started.result);
        const { accountId, subject, details } = started;
        const reservation = { id, accountId, delivery: name, details, keyHash, subject };
        const token = await keepReservation(transaction.db, reservation, { owner: instance, now: ports.clock.now() });
        stored = { started, reservation, token };
        return undefined;
      });
      if (outcome !== undefined) return { outcome };
      if (!stored) throw new Error(`The delivery ${name} has neither a reservation nor an outcome.`);
      return stored;
    },
    { isOptimistic: delivery.isRepeatable === true },
  );
}

async function callAndConfirm<Request, Result, Outcome>(
  runtime: Runtime,
  order: DeliveryOrder<Request, Result, Outcome>,
  { started, reservation, token }: Stored<Result>,
  isOptimistic: boolean,
): Promise<Outcome> {
  const { store, ports, instance } = runtime;
  const { confirmation } = started;
  let isCalled = false;
  try {
    await confirmation.call(ports, token());
    isCalled = true;
    return await store.commit(
      async (transaction) => {
        if (!(await deleteReservation(transaction.db, reservation.id, instance))) throw new ReservationLostError();
        return order.confirming(transaction, await confirmation.conclude(transaction));
      },
      { isOptimistic, isUrgent: true },
    );
  } catch (error) {
    // The other instance calls the port with a higher token, so nothing is left to do here.
    if (error instanceof ReservationLostError) throw error;
    const state = await settleAfterFailure(runtime, order, { started, reservation });
    if (typeof state === 'object') return state.outcome;
    if (error instanceof Refusal) throw error;
    // The port rejects the calls of an instance that has lost its reservation.
    if (state === 'lost' && !isCalled) throw new ReservationLostError({ cause: error });
    const description = started.describeFailure(state === 'undone');
    if (description === undefined || error instanceof StoreUnavailableError) throw error;
    throw new InfrastructureError(description, { cause: error });
  }
}

/** Undoes or finishes a failed delivery immediately. If that fails too, recovery tries again. */
async function settleAfterFailure<Request, Result, Outcome>(
  runtime: Runtime,
  order: DeliveryOrder<Request, Result, Outcome>,
  { started: { recovery }, reservation }: Pick<Stored<Result>, 'started' | 'reservation'>,
): Promise<{ readonly outcome: Outcome } | 'undone' | 'lost' | 'pending'> {
  try {
    if (recovery.kind === 'finish') {
      const finished = await settleReservation(runtime, reservation, recovery.settlement, (transaction, result) =>
        order.confirming(transaction, result),
      );
      return finished ?? 'lost';
    }
    const undone = await settleReservation(runtime, reservation, recovery.settlement, ({ db }) => forgetReservedKey(db, reservation));
    return undone ? 'undone' : 'lost';
  } catch {
    return 'pending';
  }
}
