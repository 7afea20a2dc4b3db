/** What a client is told, and what a single call is told. */
import type { Call } from './call.ts';
import type { OutcomeUnknownError, ResellerError } from './errors.ts';
import type { Values } from './form.ts';

/** What the document says of an operation; derived, see `generate/`. */
export interface Facts {
  /** The operationId. */
  readonly id: string;
  /** Sending it again after a lost answer is harmless (`x-retry: safe`). */
  readonly safe?: true;
  /** Costs money each time it succeeds (`x-billable`). */
  readonly billable?: true;
  /** Changes nothing. */
  readonly reads?: true;
  /** Takes an `Idempotency-Key`. */
  readonly keyed?: true;
  /** How many entries an answer that is a list holds at the most. */
  readonly page?: number;
  /** A letter for each field's type, `!` where it is required, and what joins the items of a list. */
  readonly form?: Readonly<Record<string, string>>;
  /** Fields that another field needs (`dependentRequired`). */
  readonly needs?: Readonly<Record<string, readonly string[]>>;
}

/** A function like the global `fetch`. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** Something that is to happen around each sending: gets what sends, answers what is to be used in its place. */
export type Middleware = (next: Fetch) => Fetch;

/** Where a client takes the time from. */
export interface Clock {
  /** Milliseconds; only differences matter. */
  now(): number;
  /** Resolves after so many milliseconds; rejects when the signal is aborted. */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>;
}

/** A call that costs money, before it is sent. */
export interface Purchase {
  /** The operationId of the document: `createVm`. */
  readonly operation: string;
  readonly path: Values;
  readonly form: Values;
}

/** How much a client may spend. */
export interface Budget {
  /** In whatever `priceOf` counts. */
  readonly limit: number;
  /** What a purchase takes of the limit; 1 where it is left out, so that the limit is a number of purchases. */
  readonly priceOf?: (purchase: Purchase) => number | Promise<number>;
}

/** What happens in a client, for logs and metrics. No secrets are in it. */
export type ClientEvent = {
  readonly operation: string;
  /** From 1. */
  readonly attempt: number;
  readonly method: string;
  readonly url: string;
} & (
  | { readonly type: 'request'; readonly form: unknown }
  | { readonly type: 'response'; readonly status: number; readonly milliseconds: number }
  | { readonly type: 'failure'; readonly error: ResellerError; readonly milliseconds: number }
  | { readonly type: 'retry'; readonly error: ResellerError; /** Milliseconds until it is sent again. */ readonly delay: number }
);

export interface ClientOptions {
  /** Base address, with or without a closing slash. */
  baseUrl?: string;
}

/** How a client is made. */
export interface ClientConfig extends ClientOptions {
  /** The API key, sent in the header that the document names. */
  apiKey?: string | undefined;
  /** Called in place of the global `fetch`. */
  fetch?: Fetch | undefined;
  /** Around `fetch`, the first outermost. */
  middleware?: readonly Middleware[] | undefined;
  /** Milliseconds that one sending may take, its answer read; 30,000 where it is left out. */
  timeoutMs?: number | undefined;
  /** How often a request that may be sent again is; 2 where it is left out. */
  maxRetries?: number | undefined;
  /**
   * Whether the server is known to honour `Idempotency-Key`: then requests that must have one effect are sent again,
   * with the same key. Where it is left out, the server's answers tell (`Idempotency-Key-Lifetime`).
   */
  honoursIdempotencyKey?: boolean | undefined;
  /** Asked before each call that costs money; what it throws refuses the call. */
  beforeBillable?: ((purchase: Purchase) => void | Promise<void>) | undefined;
  /** Purchases beyond it are refused. Those whose outcome is unknown count. */
  budget?: Budget | undefined;
  /** Refuses every call that changes something, before it is sent; `error.curl` says what would have been. */
  dryRun?: boolean | undefined;
  onEvent?: ((event: ClientEvent) => void) | undefined;
  /** Gets every good answer. `drift` of `@reseller/client/drift` makes one that finds what the document does not describe. */
  onDrift?: ((operation: string, answer: unknown) => void) | undefined;
  /** Who is calling, for the user agent. */
  appInfo?: { readonly name: string; readonly version?: string; readonly url?: string } | undefined;
  /** For tests: where time comes from. */
  clock?: Clock | undefined;
}

/** How one call is made. */
export interface CallOptions {
  /** Ends the call. */
  signal?: AbortSignal | undefined;
  timeoutMs?: number | undefined;
  maxRetries?: number | undefined;
  /** A value of your own in place of a random one; keep it, and the call can be repeated after a crash, with a server that honours it. */
  idempotencyKey?: string | undefined;
  /** Further headers. */
  headers?: Record<string, string> | undefined;
  reconcile?: false | undefined;
}

/** How a call is made that finds out by itself what became of it when its answer is lost. */
export interface Reconciling extends Omit<CallOptions, 'reconcile'> {
  /**
   * When the answer is lost, the request log is searched. Carried out: the call gives the answer as it was logged, secrets
   * missing. Not carried out: the call throws what lost the answer. Undecided: `OutcomeUnknownError`.
   */
  reconcile: true;
}

/** What the generated functions hand to a client. */
export interface RequestOptions extends Omit<CallOptions, 'headers' | 'reconcile'> {
  url: string;
  headers?: unknown;
  path?: unknown;
  body?: unknown;
  security?: readonly { readonly name: string; readonly type: 'apiKey' }[];
  meta?: Facts;
  reconcile?: boolean | undefined;
}

/** A request whose answer was lost, as `reconcile` needs it. */
export interface LostRequest {
  readonly operation: string;
  readonly method: string;
  /** The path, as it was called. */
  readonly path: string;
  readonly form: Values;
  /** By the client's clock. */
  readonly sentAt: number;
  /** The newest request that the client knew to be in the log when it sent this one, and when it learned of it. */
  readonly anchor: Anchor | undefined;
  /** The same for all requests with the same path and form. */
  readonly signature: string;
  /** Takes it out of the requests without a known outcome, and gives its price back where it had no effect. */
  settle(committed: boolean): void;
}

export interface Anchor {
  readonly requestID: string;
  /** By the client's clock. */
  readonly at: number;
}

/** What a client remembers. */
export interface ClientState {
  /** Whether the server is known to honour `Idempotency-Key`. */
  honoured: boolean;
  /** How much of the budget is spent. */
  spent: number;
  /** The newest request that was answered. */
  anchor: Anchor | undefined;
  /** Requests that must have one effect and were answered. */
  readonly answered: Set<string>;
  /** How many requests without a known outcome there are, by signature. */
  readonly open: Map<string, number>;
  readonly lost: WeakMap<OutcomeUnknownError, LostRequest>;
}

/** What finds out what became of a lost request; given to a client so that those who do not need it need not load it. */
export interface Recovery {
  /** Before a request that may have to be looked up. */
  before(client: Client): Promise<void>;
  /** @returns JSON text of the answer as it was logged, without what is masked. @throws what the call is to throw. */
  after(client: Client, error: OutcomeUnknownError): Promise<{ readonly body: string; readonly masked: readonly string[] }>;
}

/** Sends one kind of request; for the generated functions. */
export type Send = <TResponses, _TErrors, _ThrowOnError extends boolean>(
  options: RequestOptions,
) => Call<DataOf<TResponses[keyof TResponses]>>;

/** The `data` of an envelope. */
export type DataOf<Envelope> = Envelope extends { data: infer Data } ? Data : never;

/** What sends the requests of the functions in `@reseller/client/operations`. */
export interface Client {
  readonly delete: Send;
  readonly get: Send;
  readonly patch: Send;
  readonly post: Send;
  readonly put: Send;
  readonly clock: Clock;
  readonly state: ClientState;
}
