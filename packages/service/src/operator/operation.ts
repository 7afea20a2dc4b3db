/** The types of the operator API's operations, derived from the generated route types. */
import { Readable } from 'node:stream';

import type { OperatorScopeInput } from '@reseller/operator-client';
import type { RouteHandler } from 'fastify';

import type { Runtime } from '../delivery/runtime.ts';
import type { RouteHandlers } from '../generated/operator/fastify.gen.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import type { Db, Transaction } from '../store/store.ts';
import { partsInTurns } from '../store/turns.ts';
import { recordChange } from './access/record-change.ts';
import type { Change } from './access/record-change.ts';
import { assertConfirmed } from './access/second-operator.ts';
import { assertUnchanged } from './version.ts';
import type { ExpectedVersion } from './version.ts';

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
/** The body of a successful response. Undefined if there is none. */
export type ResponseOf<Id extends OperatorId> = SuccessResponse<Member<Route<Id>, 'Reply'>>;

/** A group of operations that an operator token may allow. Each operation of the document is in one. */
export type Scope = OperatorScopeInput;

const SCOPES: Readonly<Record<Scope, true>> = { read: true, support: true, billing: true, catalogue: true, sandbox: true, admin: true };

export function isScope(value: unknown): value is Scope {
  return typeof value === 'string' && Object.hasOwn(SCOPES, value);
}

/** Who sends a request to the operator API. */
export interface OperatorCaller {
  /** The ID of a token or of a third party, or `operator` for the token in the configuration. */
  readonly id: string;
  readonly name: string;
  /** Null for a third party, which may only verify one-time codes. */
  readonly scopes: readonly Scope[] | null;
  /** The session of a browser. Undefined for a request with a token. */
  readonly session?: {
    readonly hash: string;
    /** When it ends, in milliseconds. */
    readonly ends: number;
  };
}

/** One call of an operation. The handlers in `operator/<area>` receive it. */
export interface OperatorCall<Id extends OperatorId> {
  readonly runtime: Runtime;
  /** Also exists in a live service, which refuses the operations that use it. */
  readonly sandbox: Sandbox;
  readonly body: BodyOf<Id>;
  readonly path: PathOf<Id>;
  readonly query: QueryOf<Id>;
  /** When the call began, in milliseconds. */
  readonly now: number;
  readonly caller: OperatorCaller;
  readonly operationId: OperatorId;
  /** The address that the request comes from. */
  readonly address: string;
  readonly requestId: string;
  /** The state for which the change is sent. Undefined without If-Match. */
  readonly expected: ExpectedVersion | undefined;
}

/** Reads committed state. */
export interface ReadOperation<Id extends OperatorId> {
  readonly kind: 'read';
  run(db: Db, call: OperatorCall<Id>): Promise<ResponseOf<Id>>;
}

/** Data of the provider that only one operation at a time may change. */
export type OperatorLock = 'catalogue' | 'tld_prices' | 'sales' | 'settings' | 'invoicing' | 'access';

/** Runs in one transaction, with its record in the audit. */
export interface StoreOperation<Id extends OperatorId> {
  readonly kind: 'store';
  /**
   * Operations with the same lock wait for each other, so that `before` reads the state that the change replaces. An operation without a
   * lock locks the rows that `before` reads, or only adds rows.
   */
  readonly lock?: OperatorLock;
  /** Runs before the transaction. */
  prepare?(call: OperatorCall<Id>): Promise<void>;
  /** Reads the state before the change, for the audit. Without it, nothing existed before. */
  before?(db: Db, call: OperatorCall<Id>): Promise<unknown>;
  run(transaction: Transaction, call: OperatorCall<Id>): Promise<ResponseOf<Id>>;
}

/** Writes the record of a change into the audit. Must run in the transaction of the change. */
export type RecordChange = (db: Db, change: Change) => Promise<void>;

/** Runs several transactions, or works outside the store. It records its changes itself. */
export interface ServiceOperation<Id extends OperatorId> {
  readonly kind: 'service';
  run(call: OperatorCall<Id>, record: RecordChange): Promise<ResponseOf<Id>>;
}

/** Reads more than fits into memory, and returns it as the parts of a JSON text. */
export interface StreamOperation<Id extends OperatorId> {
  readonly kind: 'stream';
  run(call: OperatorCall<Id>, record: RecordChange): Promise<AsyncIterable<Buffer | string>>;
}

export type OperatorOperation<Id extends OperatorId> = ReadOperation<Id> | StoreOperation<Id> | ServiceOperation<Id> | StreamOperation<Id>;

/** The handler table. It does not compile until every operation of the document has an entry. */
export type OperatorTable = { readonly [Id in OperatorId]: OperatorOperation<Id> };

/** @returns The body of the response, or a stream of its text. */
export async function performOperator<Id extends OperatorId>(
  operation: OperatorOperation<Id>,
  call: OperatorCall<Id>,
): Promise<ResponseOf<Id> | Readable> {
  await assertConfirmed(call);
  switch (operation.kind) {
    case 'read':
      return call.runtime.store.read((db) => operation.run(db, call));
    case 'store':
      await operation.prepare?.(call);
      return call.runtime.store.commit(async (transaction) => {
        if (operation.lock) await call.runtime.store.sharing.lock(transaction.db, operation.lock);
        const before = (await operation.before?.(transaction.db, call)) ?? null;
        await assertUnchanged(transaction.db, call.expected);
        const response = await operation.run(transaction, call);
        await recordChange(transaction.db, call, { before, after: response ?? null });
        return response;
      });
    case 'service':
      return operation.run(call, (db, change) => recordChange(db, call, change));
    case 'stream':
      return Readable.from(partsInTurns(await operation.run(call, (db, change) => recordChange(db, call, change))));
  }
}
