/** The types of the reseller API's operations, derived from the generated route types. */
import type { Subject } from '@reseller/adapters';
import type { RouteHandler } from 'fastify';

import type { Spender } from '../core/account/spending.ts';
import type { Runtime } from '../delivery/runtime.ts';
import type { Steps } from '../delivery/steps.ts';
import type { RouteHandlers } from '../generated/fastify.gen.ts';
import type { Ports } from '../ports/ports.ts';
import type { Bought } from '../store/log-row.ts';
import type { Db, Transaction } from '../store/store.ts';

/** The operations of the document. */
export type OperationId = keyof RouteHandlers;

type Route<Id extends OperationId> = RouteHandlers[Id] extends RouteHandler<infer Generic> ? Generic : never;
type Member<T, Name extends PropertyKey> = T extends { [Key in Name]?: infer Value } ? Value : undefined;

/** The validated form of an operation. Empty if the operation takes none. */
export type FormOf<Id extends OperationId> = AsSent<NonNullable<Member<Route<Id>, 'Body'>>>;
/** The path parameters of an operation. */
export type PathOf<Id extends OperationId> = AsSent<NonNullable<Member<Route<Id>, 'Params'>>>;
/** A client may give a text as a number or an object, and sends a text. */
type AsSent<Values> = { [Name in keyof Values]: string extends Values[Name] ? Exclude<Values[Name], number | object> : Values[Name] };
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
  /** For the request log. */
  readonly bought?: Bought;
  /** The subject of a further delivery that the last transaction has enqueued. It is carried out before the response if possible. */
  readonly enqueued?: Subject;
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
  /** Does what may be long in transactions of its own, before that of `run`. Others would wait for one long transaction. */
  prepare?(call: Call<Id>): Promise<void>;
  run(transaction: Transaction, call: Call<Id>): Promise<Success<Id>>;
}

/** An operation that needs the infrastructure (see delivery/delivery.ts). */
export interface DeliveredOperation<Id extends OperationId, Result = unknown> {
  readonly kind: 'delivered';
  /** Carries out the change. The code before its first step also runs for a repeated request. */
  deliver(steps: Steps<Result>, call: Call<Id>): Promise<Result>;
  /** Returns the success of a change that is already in place, which needs no delivery. Runs in the first transaction. */
  inPlace?(transaction: Transaction, call: Call<Id>): Promise<Success<Id> | undefined>;
  /** Runs in the last transaction. */
  success(result: Result, call: Call<Id>, transaction: Transaction): Promise<Success<Id>>;
}

/** An operation whose change returns its success. */
export function deliveredCall<Id extends OperationId>(
  deliver: DeliveredOperation<Id, Success<Id>>['deliver'],
): DeliveredOperation<Id, Success<Id>> {
  return { kind: 'delivered', deliver, success: async (success) => success };
}

export type Operation<Id extends OperationId> = ReadOperation<Id> | LookupOperation<Id> | StoreOperation<Id> | DeliveredOperation<Id>;

/** The handler table. It does not compile until every operation of the document has an entry. */
export type OperationTable = { readonly [Id in OperationId]: Operation<Id> };
