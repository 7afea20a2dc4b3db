/**
 * The steps of a delivery, which a function of a change calls from top to bottom:
 *
 * ```ts
 * const { vm, hold } = await steps.reserve(vmStart, async ({ db }) => { ... });
 * const task = await steps.call(({ hypervisor }, token) => hypervisor.start(vm.id, token));
 * if (task) return steps.wait(async () => {});
 * return steps.confirm(({ db }) => beginBilling(db, vm, hold));
 * ```
 *
 * The request around it is not the function's concern: its Idempotency-Key is claimed in the first transaction, and its response and its log entry
 * are stored in the one that ends it.
 */
import type { DoneOrStarted, FencingToken, StartedTask } from '@reseller/adapters';

import type { Ports } from '../ports/ports.ts';
import type { Transaction } from '../store/store.ts';
import type { Delivery, FinishableDelivery } from './delivery.ts';

/** The reservation of a change, as its first transaction has stored it. */
export interface Reserved<Details> {
  readonly accountId: string;
  /** Stored with the reservation. */
  readonly details: Details;
}

/** @typeParam Result What the change returns to its caller. */
export interface Steps<Result> {
  /**
   * Runs the first transaction, and stores the reservation in it.
   *
   * @returns What `run` has returned. All other values than `accountId` and `details` are never stored, so they may be secrets. A repeated request, a
   *   refusal and a change that is in place end the delivery here: then this does not return.
   */
  reserve<Details, Kept>(
    delivery: Delivery<Details, Result>,
    run: (transaction: Transaction) => Promise<Reserved<Details> & Kept>,
  ): Promise<Reserved<Details> & Kept>;
  /** Ends the delivery in its first transaction, because there is nothing to deliver. */
  inPlace(result: Result): never;
  /** Calls a port. @returns The task that the port has started, for which the change then waits. */
  call(run: (ports: Ports, token: FencingToken) => Promise<DoneOrStarted>): Promise<StartedTask | undefined>;
  /** Runs the last transaction, in which the reservation is deleted. @returns What `run` has returned. */
  confirm(run: (transaction: Transaction, ports: Ports) => Promise<Result>): Promise<Result>;
  /** Ends the request while a task goes on. `afterTask` of the delivery, or `finish`, then makes the change final. */
  wait(run: (transaction: Transaction) => Promise<Result>): Promise<Result>;
}

/** All steps of a change that takes something away. It takes effect with its reservation, and its call and its end are those of recovery. */
export async function finish<Details>(
  steps: Steps<void>,
  delivery: FinishableDelivery<Details>,
  reserve: (transaction: Transaction) => Promise<Reserved<Details>>,
): Promise<void> {
  const { details } = await steps.reserve(delivery, reserve);
  const end = delivery.finish;
  const task = await steps.call((ports, token) => end.call(ports, details, token));
  return task ? steps.wait(async () => {}) : steps.confirm((transaction, ports) => end.store(transaction, details, ports));
}
