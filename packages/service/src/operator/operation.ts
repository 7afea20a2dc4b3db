/** What an operation of the operator's document is to the service; derived from the generated route types. */
import type { RouteHandler } from 'fastify';

import type { RouteHandlers } from '../generated/operator/fastify.gen.ts';
import type { Ports } from '../ports/ports.ts';
import type { DomainCommands } from '../core/domain/terminate.ts';
import type { VmCommands } from '../core/vm/commands.ts';
import type { Mode } from '../rules/credentials.ts';
import type { Db, Store, Transaction } from '../store/store.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';

/** The operations of the operator's document. */
export type OperatorId = keyof RouteHandlers;

type Route<Id extends OperatorId> = RouteHandlers[Id] extends RouteHandler<infer Generic> ? Generic : never;
type Member<T, Name extends PropertyKey> = T extends { [Key in Name]?: infer Value } ? Value : undefined;
type SuccessResponse<Reply> = Reply extends { 200: infer Answer } ? Answer : Reply extends { 201: infer Answer } ? Answer : undefined;

/** The body of an operation, judged by the document; undefined where it takes none. */
export type BodyOf<Id extends OperatorId> = Member<Route<Id>, 'Body'>;
/** The path parameters of an operation. */
export type PathOf<Id extends OperatorId> = NonNullable<Member<Route<Id>, 'Params'>>;
/** The query parameters of an operation. */
export type QueryOf<Id extends OperatorId> = NonNullable<Member<Route<Id>, 'Querystring'>>;
/** What a good answer of an operation says; undefined where it has no body. */
export type ResponseOf<Id extends OperatorId> = SuccessResponse<Member<Route<Id>, 'Reply'>>;

/** The caller whom the operator token names. */
export const OPERATOR = 'operator';

/** What operations of the operator work with. */
export interface OperatorContext {
  readonly store: Store;
  readonly ports: Ports;
  /** Known to the service alone, not in the store. */
  readonly secret: string;
  readonly mode: Mode;
  /** What is done with VMs, the hypervisor included. */
  readonly vms: VmCommands;
  /** What is done with domains, the registrar included. */
  readonly domains: DomainCommands;
  /** What a sandbox can be made to do; a live service has it too and refuses its operations. */
  readonly sandbox: Sandbox;
}

/** One call of an operation. */
export interface OperatorCall<Id extends OperatorId> extends OperatorContext {
  readonly body: BodyOf<Id>;
  readonly path: PathOf<Id>;
  readonly query: QueryOf<Id>;
  /** Milliseconds since 1970 UTC: one instant for all that the call does. */
  readonly now: number;
  /** Who calls: `operator`, or the identifier of a third party. */
  readonly caller: string;
}

/** Looks at committed state. */
export interface ReadOperation<Id extends OperatorId> {
  readonly kind: 'read';
  run(db: Db, call: OperatorCall<Id>): Promise<ResponseOf<Id>>;
}

/** One unit of work in the store. */
export interface StoreOperation<Id extends OperatorId> {
  readonly kind: 'store';
  run(transaction: Transaction, call: OperatorCall<Id>): Promise<ResponseOf<Id>>;
}

/** Several units, or work outside the store. */
export interface ServiceOperation<Id extends OperatorId> {
  readonly kind: 'service';
  run(call: OperatorCall<Id>): Promise<ResponseOf<Id>>;
}

export type OperatorOperation<Id extends OperatorId> = ReadOperation<Id> | StoreOperation<Id> | ServiceOperation<Id>;

/** The handler table: total over the document, so an operation without an entry does not compile. */
export type OperatorTable = { readonly [Id in OperatorId]: OperatorOperation<Id> };

/** Carries a call out. */
export function performOperator<Id extends OperatorId>(operation: OperatorOperation<Id>, call: OperatorCall<Id>): Promise<ResponseOf<Id>> {
  switch (operation.kind) {
    case 'read':
      return call.store.read((db) => operation.run(db, call));
    case 'store':
      return call.store.commit((transaction) => operation.run(transaction, call));
    case 'service':
      return operation.run(call);
  }
}
