import type { DoneOrStarted, FencingToken, StartedTask } from '@reseller/adapters';

import { originOf, PortTimeoutError, SYSTEMS, wasNotSent } from '../ports/outage.ts';
import type { Ports, SimulatedPort } from '../ports/ports.ts';
import { Refusal } from '../rules/refusal.ts';
import { StoreUnavailableError } from '../store/store.ts';
import type { Transaction } from '../store/store.ts';
import { finishing, undoing } from './delivery.ts';
import type { Completion, Delivery } from './delivery.ts';
import { completeReservation, forgetReservedKey } from './recover.ts';
import { deleteReservation, keepReservation, ReservationLostError } from './reservation.ts';
import type { NewReservation } from './reservation.ts';
import type { Runtime } from './runtime.ts';
import type { Reserved, Steps } from './steps.ts';
import { keepTask } from './task.ts';

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

/** A change of which a call has failed. */
interface CalledChange {
  readonly leavesNoTrace: boolean;
  /** Whether it has been undone already. */
  readonly isSettled: boolean;
}

/**
 * The error for the caller of a port that failed, if nothing of the call is left. Otherwise the given error.
 *
 * @param change Undefined if the failed call only asked.
 */
export function outageOr(error: unknown, change?: CalledChange): unknown {
  const system = originOf(error);
  if (system === undefined) return error;
  const isSent = !wasNotSent(error);
  if (isSent && change && !change.leavesNoTrace) return error;
  const failure = isSent ? (error instanceof PortTimeoutError ? 'did not respond in time' : 'failed') : 'cannot be reached';
  const consequence = isSent && change ? 'the change is undone, and nothing of it is billed' : 'nothing was changed';
  const again =
    change?.isSettled === false
      ? 'What was reserved for it is free again when the service reaches the system. Send the request again later.'
      : 'Wait the number of seconds in Retry-After, then send the request again.';
  return new InfrastructureError(`The ${SYSTEMS[system]} ${failure}, so ${consequence}. ${again}`, { cause: error });
}

/** How a change ended: with its result, or refused before anything was delivered. */
export type DeliveryEnd<Result> = { readonly result: Result } | { readonly refusal: Refusal };

/** One request or command that carries out a change. */
export interface DeliveryOrder<Result, Outcome> {
  readonly id: string;
  /** Hash of the caller's Idempotency-Key, or null. */
  readonly keyHash: string | null;
  /** Runs first in the first transaction. An outcome ends the delivery, such as the stored response of a repeated request. */
  claim(transaction: Transaction): Promise<Outcome | undefined>;
  /** Runs in the transaction in which the change takes effect: the first one if it is finished after a failure, otherwise the last one. */
  takeEffect?(transaction: Transaction): Promise<void>;
  /** Runs last in the transaction that ends the delivery, and turns its end into the outcome. After a refusal the changes are rolled back. */
  record(transaction: Transaction, ended: DeliveryEnd<Result>): Promise<Outcome>;
}

/**
 * Carries out a change.
 *
 * @param change Calls the steps.
 * @throws Refusal if the port refuses the change. Nothing has changed then. A refusal of the reservation goes to `record`.
 * @throws InfrastructureError if a port fails and the delivery describes its failures, or if the port is away and nothing was changed. Otherwise
 *   the port's own error is thrown.
 * @throws StoreUnavailableError if the store fails, or another instance has taken over the reservation.
 */
export async function deliver<Result, Outcome>(
  runtime: Runtime,
  order: DeliveryOrder<Result, Outcome>,
  change: (steps: Steps<Result>) => Promise<Result>,
): Promise<Outcome> {
  const { delivering } = runtime.instance;
  const course = new DeliveryCourse(runtime, order);
  // Recovery skips what this instance is delivering.
  delivering.add(order.id);
  try {
    await change(course);
    return course.outcome();
  } catch (error) {
    return await course.outcomeAfter(error);
  } finally {
    delivering.delete(order.id);
  }
}

/** Leaves the function of a change that the first transaction has ended. */
class EndedByReservation extends Error {}

/** Leaves the first transaction of a change for which there is nothing to deliver. */
class InPlace extends Error {}

/** A change whose reservation is stored. */
interface StoredReservation<Result> {
  readonly reservation: NewReservation;
  /** Known after the commit. */
  readonly token: Promise<FencingToken>;
  /** How it ends if it fails. */
  readonly recovery: { readonly undo: Completion<void> } | { readonly finish: Completion<Result> };
  readonly leavesNoTrace: boolean;
  describeFailure(isSettled: boolean): string | undefined;
}

/** The course of one delivery. */
class DeliveryCourse<Result, Outcome> implements Steps<Result> {
  readonly #runtime: Runtime;
  readonly #order: DeliveryOrder<Result, Outcome>;
  #inPlace: { readonly result: Result } | undefined;
  #stored: StoredReservation<Result> | undefined;
  #isCalled = false;
  #task: StartedTask | undefined;
  #ended: { readonly outcome: Outcome } | undefined;

  constructor(runtime: Runtime, order: DeliveryOrder<Result, Outcome>) {
    this.#runtime = runtime;
    this.#order = order;
  }

  outcome(): Outcome {
    if (!this.#ended) throw new Error('The change has returned before its delivery ended. It must call confirm or wait.');
    return this.#ended.outcome;
  }

  async reserve<Details, Kept>(
    delivery: Delivery<Details, Result>,
    run: (transaction: Transaction) => Promise<Reserved<Details> & Kept>,
  ): Promise<Reserved<Details> & Kept> {
    const { store, deliveries } = this.#runtime;
    if (!deliveries[delivery.name]) throw new Error(`Recovery does not know the delivery ${delivery.name}. Add it to the registry.`);
    const first = await store.commit(async (transaction) => {
      try {
        const earlier = await this.#order.claim(transaction);
        if (earlier !== undefined) return { outcome: earlier };
        const kept = await run(transaction);
        return { kept, stored: await this.#keep(transaction, delivery, kept) };
      } catch (end) {
        return { outcome: await this.#endInFirst(transaction, end) };
      }
    });
    if (first.stored === undefined) {
      this.#ended = { outcome: first.outcome };
      throw new EndedByReservation();
    }
    this.#stored = first.stored;
    return first.kept;
  }

  inPlace(result: Result): never {
    this.#inPlace = { result };
    throw new InPlace();
  }

  async call(run: (ports: Ports, token: FencingToken) => Promise<DoneOrStarted>): Promise<StartedTask | undefined> {
    this.#task = (await run(this.#runtime.ports, await this.#reserved().token)) ?? undefined;
    this.#isCalled = true;
    return this.#task;
  }

  async confirm(run: (transaction: Transaction, ports: Ports) => Promise<Result>): Promise<Result> {
    const { instance, ports } = this.#runtime;
    const { reservation } = this.#reserved();
    if (this.#task) throw new Error(`The port started a task, for which the delivery ${reservation.delivery} cannot wait.`);
    return this.#end(async (transaction) => {
      if (!(await deleteReservation(transaction.db, reservation.id, instance))) throw new ReservationLostError();
      return run(transaction, ports);
    });
  }

  async wait(run: (transaction: Transaction) => Promise<Result>): Promise<Result> {
    const { instance } = this.#runtime;
    const { reservation } = this.#reserved();
    const started = this.#task;
    if (!started) throw new Error(`The port started no task, for which the delivery ${reservation.delivery} could wait.`);
    return this.#end(async (transaction) => {
      await keepTask(transaction.db, reservation.id, { instance, started, undoing: false });
      return run(transaction);
    });
  }

  /** Undoes or finishes a change that has failed. @throws The error for the caller, unless the change was finished. */
  async outcomeAfter(error: unknown): Promise<Outcome> {
    if (error instanceof EndedByReservation) return this.outcome();
    const stored = this.#stored;
    if (!stored) throw outageOr(error);
    // The other instance calls the port with a higher token, so nothing is left to do here.
    if (this.#ended || error instanceof ReservationLostError) throw error;
    const state = await this.#recover(stored);
    if (state === 'finished') return this.outcome();
    if (error instanceof Refusal) throw error;
    // The port rejects the calls of an instance that has lost its reservation.
    if (state === 'lost' && !this.#isCalled) throw new ReservationLostError({ cause: error });
    if (error instanceof StoreUnavailableError) throw error;
    const isSettled = state === 'undone';
    const description = stored.describeFailure(isSettled);
    if (description !== undefined) throw new InfrastructureError(description, { cause: error });
    const { recovery, leavesNoTrace } = stored;
    throw 'undo' in recovery ? outageOr(error, { isSettled, leavesNoTrace }) : error;
  }

  #reserved(): StoredReservation<Result> {
    if (!this.#stored) throw new Error('The change has no reservation yet. It must call reserve first.');
    return this.#stored;
  }

  async #keep<Details>(
    transaction: Transaction,
    delivery: Delivery<Details, Result>,
    { accountId, details }: Reserved<Details>,
  ): Promise<StoredReservation<Result>> {
    const { instance, ports } = this.#runtime;
    const { id, keyHash } = this.#order;
    if ('finish' in delivery) await this.#order.takeEffect?.(transaction);
    const stored = JSON.stringify(details);
    const reservation = { id, accountId, delivery: delivery.name, details: stored, keyHash, subject: delivery.subject(details) };
    return {
      reservation,
      token: keepReservation(transaction, reservation, { owner: instance, now: ports.clock.now() }),
      recovery: 'undo' in delivery ? { undo: undoing(delivery, details) } : { finish: finishing(delivery, details) },
      leavesNoTrace: 'undo' in delivery && delivery.leavesNoTrace === true,
      describeFailure: (isSettled) => delivery.describeFailure?.(details, isSettled),
    };
  }

  async #endInFirst(transaction: Transaction, end: unknown): Promise<Outcome> {
    const order = this.#order;
    if (end instanceof InPlace && this.#inPlace) {
      await order.takeEffect?.(transaction);
      return order.record(transaction, this.#inPlace);
    }
    if (!(end instanceof Refusal)) throw end;
    await transaction.rollBack();
    return order.record(transaction, { refusal: end });
  }

  async #end(run: (transaction: Transaction) => Promise<Result>): Promise<Result> {
    const order = this.#order;
    const { recovery } = this.#reserved();
    const ended = await this.#runtime.store.commit(
      async (transaction) => {
        const result = await run(transaction);
        if ('undo' in recovery) await order.takeEffect?.(transaction);
        return { result, outcome: await order.record(transaction, { result }) };
      },
      { isUrgent: true },
    );
    this.#ended = ended;
    return ended.result;
  }

  /** Ends the change immediately. If that fails too, recovery tries again. */
  async #recover(stored: StoredReservation<Result>): Promise<'finished' | 'undone' | 'lost' | 'pending'> {
    try {
      return await this.#completeRecovery(stored);
    } catch {
      return 'pending';
    }
  }

  async #completeRecovery({ reservation, recovery }: StoredReservation<Result>): Promise<'finished' | 'undone' | 'lost' | 'pending'> {
    const runtime = this.#runtime;
    if ('undo' in recovery) {
      const undone = await completeReservation(runtime, reservation, recovery.undo, ({ db }) => forgetReservedKey(db, reservation));
      return undone === 'started' ? 'pending' : undone ? 'undone' : 'lost';
    }
    const finished = await completeReservation(runtime, reservation, recovery.finish, (transaction, result) =>
      this.#order.record(transaction, { result }),
    );
    if (typeof finished !== 'object') return finished === 'started' ? 'pending' : 'lost';
    this.#ended = finished;
    return 'finished';
  }
}
