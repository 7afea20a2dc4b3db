/** What an operation of the document is to the service; derived from the generated route types. */
import type { RouteHandler } from 'fastify';

import type { RouteHandlers } from '../generated/fastify.gen.ts';
import type { Ports } from '../ports/ports.ts';
import type { Turn } from '../ports/turn.ts';
import type { Db, Transaction } from '../store/store.ts';
import type { Subject } from './turns.ts';
import type { VmIdentifiers } from './vm/identifier.ts';

/** The operations of the document. */
export type OperationId = keyof RouteHandlers;

type Route<Id extends OperationId> = RouteHandlers[Id] extends RouteHandler<infer Generic> ? Generic : never;
type Member<T, Name extends PropertyKey> = T extends { [Key in Name]?: infer Value } ? Value : undefined;

/** The form of an operation, read and validated; an empty one where the document has none. */
export type FormOf<Id extends OperationId> = NonNullable<Member<Route<Id>, 'Body'>>;
/** The path parameters of an operation. */
export type PathOf<Id extends OperationId> = NonNullable<Member<Route<Id>, 'Params'>>;
/** The `data` of an operation's good answer. */
export type DataOf<Id extends OperationId> = Member<Member<Member<Route<Id>, 'Reply'>, 200>, 'data'>;

/** One call of an operation by an account. */
export interface Call<Id extends OperationId> {
  readonly accountId: string;
  readonly form: FormOf<Id>;
  readonly path: PathOf<Id>;
  /** Milliseconds since 1970 UTC: one instant for all that the call does. */
  readonly now: number;
  readonly ports: Ports;
  /** Known to the service alone, not in the store. */
  readonly secret: string;
  /** What new VMs are given identifiers from. */
  readonly vmIdentifiers: VmIdentifiers;
  /** Base URL at which callers reach the service, without a closing slash. */
  publicUrl(): string;
}

/** What a good answer says. */
export interface Answer<Id extends OperationId> {
  readonly message: string;
  readonly data: DataOf<Id>;
}

/** An operation that needs nothing but the store: one unit of work. */
export interface StoreOperation<Id extends OperationId> {
  readonly kind: 'store';
  run(transaction: Transaction, call: Call<Id>): Promise<Answer<Id>>;
}

/** What is kept of a reservation, so that another process can undo it. */
export type ReservationDetails = Readonly<Record<string, string | number>>;

/** How a delivery is taken back, or finished. */
export interface Withdrawal {
  /** After that of the delivery. */
  readonly turn: Turn;
  /** Whether the delivery may come about yet: it was given up, or its process may have died. */
  readonly mayComeYet: boolean;
}

/** One run of an operation that needs the infrastructure too. */
export interface Delivery<Id extends OperationId> {
  /** Keeps what the effect will take; durable before `deliver`. */
  reserve(transaction: Transaction): Promise<ReservationDetails>;
  /** Calls the infrastructure, in this turn. */
  deliver(turn: Turn): Promise<void>;
  /** Makes the effect final. */
  confirm(transaction: Transaction): Promise<Answer<Id>>;
}

/**
 * An operation with an effect outside the store: reserve, deliver, confirm. What fails between
 * them, or is left over by a node that died, is taken back outside (`withdraw`) and then inside (`release`).
 */
export interface DeliveredOperation<Id extends OperationId> {
  readonly kind: 'delivered';
  begin(call: Call<Id>): Delivery<Id>;
  /** What the infrastructure is called about. */
  subject(details: ReservationDetails): Subject;
  withdraw(ports: Ports, details: ReservationDetails, withdrawal: Withdrawal): Promise<void>;
  release(transaction: Transaction, details: ReservationDetails): Promise<void>;
  /**
   * Whether what was reserved is somebody's, in the store: a delivery that comes back after it was
   * undone must not take it away from them. Where it is left out, whatever came later has it.
   */
  isTaken?(db: Db, details: ReservationDetails): Promise<boolean>;
}

export type Operation<Id extends OperationId> = StoreOperation<Id> | DeliveredOperation<Id>;

/** The handler table: total over the document, so an operation without an entry does not compile. */
export type OperationTable = { readonly [Id in OperationId]: Operation<Id> };
