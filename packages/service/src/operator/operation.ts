/** The types of the operator API's operations, derived from the generated route types. */
import type { RouteHandler } from 'fastify';

import type { RouteHandlers } from '../generated/operator/fastify.gen.ts';
import type { Runtime } from '../delivery/runtime.ts';
import type { Db, Transaction } from '../store/store.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';

/** The operations of the operator's document. */
export type OperatorId = keyof RouteHandlers;

type Route<Id extends OperatorId> = RouteHandlers[Id] extends RouteHandler<infer Generic> ? Generic : never;
type Member<T, Name extends PropertyKey> = T extends { [Key in Name]?: infer Value } ? Value : undefined;
type SuccessResponse<Reply> = Reply extends { 200: infer Body } ? Body : Reply extends { 201: infer Body } ? Body : undefined;

/** The validated body of an operation. Undefined if the operation takes none. */
export type BodyOf<Id extends OperatorId> = Member<Route<Id>, 'Body'>;
/** The path parameters of an operation. */
export type PathOf<Id extends OperatorId> = NonNullable<Member<Route<Id>, 'Params'>>;
/** The query parameters of an operation. */
export type QueryOf<Id extends OperatorId> = NonNullable<Member<Route<Id>, 'Querystring'>>;
/** The body of a successful response. Undefined if the response has none. */
export type ResponseOf<Id extends OperatorId> = SuccessResponse<Member<Route<Id>, 'Reply'>>;

/** The caller with the operator token. */
export const OPERATOR = 'operator';

/** One call of an operation. The handlers in `operator/<area>` receive it. */
export interface OperatorCall<Id extends OperatorId> {
  readonly runtime: Runtime;
  /** A live service has it too, and refuses the operations that use it. */
  readonly sandbox: Sandbox;
  readonly body: BodyOf<Id>;
  readonly path: PathOf<Id>;
  readonly query: QueryOf<Id>;
  /** When the call began, in milliseconds. */
  readonly now: number;
  /** `operator`, or the ID of a verifier. */
  readonly caller: string;
}

/** Reads committed state. */
export interface ReadOperation<Id extends OperatorId> {
  readonly kind: 'read';
  run(db: Db, call: OperatorCall<Id>): Promise<ResponseOf<Id>>;
}

/** Runs in one transaction. */
export interface StoreOperation<Id extends OperatorId> {
  readonly kind: 'store';
  run(transaction: Transaction, call: OperatorCall<Id>): Promise<ResponseOf<Id>>;
}

/** Runs several transactions, or works outside the store. */
export interface ServiceOperation<Id extends OperatorId> {
  readonly kind: 'service';
  run(call: OperatorCall<Id>): Promise<ResponseOf<Id>>;
}

export type OperatorOperation<Id extends OperatorId> = ReadOperation<Id> | StoreOperation<Id> | ServiceOperation<Id>;

/** The handler table. It does not compile until every operation of the document has an entry. */
export type OperatorTable = { readonly [Id in OperatorId]: OperatorOperation<Id> };

export function performOperator<Id extends OperatorId>(operation: OperatorOperation<Id>, call: OperatorCall<Id>): Promise<ResponseOf<Id>> {
  switch (operation.kind) {
    case 'read':
      return call.runtime.store.read((db) => operation.run(db, call));
    case 'store':
      return call.runtime.store.commit((transaction) => operation.run(transaction, call));
    case 'service':
      return operation.run(call);
  }
}
