/** The types of the reseller API's operations, derived from the generated route types. */
import type { RouteHandler } from 'fastify';

import type { Spender } from '../core/account/spending.ts';
import { deliver } from '../delivery/deliver.ts';
import type { DeliveryOrder } from '../delivery/deliver.ts';
import { recoverable } from '../delivery/delivery.ts';
import type { Delivery, Recover } from '../delivery/delivery.ts';
import type { Runtime } from '../delivery/runtime.ts';
import type { RouteHandlers } from '../generated/fastify.gen.ts';
import type { Ports } from '../ports/ports.ts';
import type { Refusal } from '../rules/refusal.ts';
import type { Db, Transaction } from '../store/store.ts';

/** The operations of the document. */
export type OperationId = keyof RouteHandlers;

type Route<Id extends OperationId> = RouteHandlers[Id] extends RouteHandler<infer Generic> ? Generic : never;
type Member<T, Name extends PropertyKey> = T extends { [Key in Name]?: infer Value } ? Value : undefined;

/** The validated form of an operation. Empty if the operation takes none. */
export type FormOf<Id extends OperationId> = NonNullable<Member<Route<Id>, 'Body'>>;
/** The path parameters of an operation. */
export type PathOf<Id extends OperationId> = NonNullable<Member<Route<Id>, 'Params'>>;
/** The `data` of an operation's successful response. */
export type DataOf<Id extends OperationId> = Member<Member<Member<Route<Id>, 'Reply'>, 200>, 'data'>;

/** One call of an operation by an account. The handlers in `reseller/<area>` receive it. */
export interface Call<Id extends OperationId> {
  readonly runtime: Runtime;
  readonly accountId: string;
  /** The API key that sends the call. */
  readonly keyId: string;
  /** The spending limit of the key, if it has one. */
  readonly spender: Spender | undefined;
  readonly form: FormOf<Id>;
  readonly path: PathOf<Id>;
  /** When the call began, in milliseconds. */
  readonly now: number;
}

/** The message and the data of a successful response. */
export interface Success<Id extends OperationId> {
  readonly message: string;
  readonly data: DataOf<Id>;
}

/** An operation that changes nothing. Its log entry shares a commit with those of other requests. */
export interface ReadOperation<Id extends OperationId> {
  readonly kind: 'read';
  /** Whether due jobs of the account may change the response, so that they are performed first. */
  readonly settles: boolean;
  /** Whether the response grows with the account, so that it is read and written in turns with other requests. */
  readonly isLong?: boolean;
  run(db: Db, call: Call<Id>): Promise<Success<Id>>;
}

/** An operation that changes nothing and calls the infrastructure. No transaction is open during the call. */
export interface LookupOperation<Id extends OperationId, Found = unknown> {
  readonly kind: 'lookup';
  find(db: Db, call: Call<Id>): Promise<Found>;
  ask(ports: Ports, found: Found): Promise<Success<Id>>;
}

/** An operation that needs only the store. It runs in one transaction. */
export interface StoreOperation<Id extends OperationId> {
  readonly kind: 'store';
  /** Whether it gives the same result when it runs again, because it draws no random numbers. The store then runs it optimistically. */
  readonly isRepeatable?: boolean;
  run(transaction: Transaction, call: Call<Id>): Promise<Success<Id>>;
}

/** An operation that needs the infrastructure (see delivery/delivery.ts). */
export interface DeliveredOperation<Id extends OperationId> {
  readonly kind: 'delivered';
  deliver<Outcome>(runtime: Runtime, order: DeliveryOrder<Call<Id>, Success<Id>, Outcome>): Promise<Outcome>;
  readonly recover: Recover;
}

export function deliveredOperation<Id extends OperationId, Details, Plan>(
  delivery: Delivery<Call<Id>, Details, Plan, Success<Id>>,
): DeliveredOperation<Id> {
  return {
    kind: 'delivered',
    deliver: (runtime, order) => deliver(runtime, delivery, order),
    recover: recoverable(delivery),
  };
}

/** An operation that carries out a delivery of core/. Recovery finds the delivery under its own name. */
export interface CommandOperation<Id extends OperationId> {
  readonly kind: 'command';
  deliver<Outcome>(runtime: Runtime, order: DeliveryOrder<Call<Id>, Success<Id>, Outcome>): Promise<Outcome>;
}

/** A delivery of core/, and how it serves an operation. */
export interface CoreDelivery<Id extends OperationId, Request, Details, Plan, Result> {
  /** Name of the delivery in the registry. */
  readonly name: string;
  readonly delivery: Delivery<Request, Details, Plan, Result>;
  request(call: Call<Id>): Request;
  success(result: Result, call: Call<Id>, transaction: Transaction): Promise<Success<Id>>;
}

export function commandOperation<Id extends OperationId, Request, Details, Plan, Result>(
  _id: Id,
  core: CoreDelivery<Id, Request, Details, Plan, Result>,
): CommandOperation<Id> {
  return { kind: 'command', deliver: (runtime, order) => deliverCore(runtime, order, core) };
}

/** Carries out a delivery of core/ for a call. */
export function deliverCore<Id extends OperationId, Request, Details, Plan, Result, Outcome>(
  runtime: Runtime,
  order: DeliveryOrder<Call<Id>, Success<Id>, Outcome>,
  { name, delivery, request, success }: CoreDelivery<Id, Request, Details, Plan, Result>,
): Promise<Outcome> {
  return deliver<Request, Details, Plan, Result, Outcome>(runtime, delivery, {
    ...order,
    name,
    request: request(order.request),
    confirming: async (transaction, result) => order.confirming(transaction, await success(result, order.request, transaction)),
  });
}

/** Refuses a call before anything is delivered. The API records the refusal like any other. */
export async function refuseDelivery<Id extends OperationId, Outcome>(
  { store }: Runtime,
  order: DeliveryOrder<Call<Id>, Success<Id>, Outcome>,
  refusal: Refusal,
): Promise<Outcome> {
  const outcome = await store.commit((transaction) => order.reserving(transaction, () => Promise.reject(refusal)));
  if (outcome === undefined) throw refusal;
  return outcome;
}

export type Operation<Id extends OperationId> =
  | ReadOperation<Id>
  | LookupOperation<Id>
  | StoreOperation<Id>
  | DeliveredOperation<Id>
  | CommandOperation<Id>;

/** The handler table. It does not compile until every operation of the document has an entry. */
export type OperationTable = { readonly [Id in OperationId]: Operation<Id> };
