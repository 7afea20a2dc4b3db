/** What a client is told, and what a single call is told. */
import type { Call } from './call.ts';
import type { ResellerError } from './errors.ts';
import type { Values } from './form.ts';
import type { Fill } from './path.ts';
import type { DryRun, Prepared } from './prepare.ts';
import type { Write } from './writing.ts';

/**
 * What the document says of an operation, derived by `generate/`, in words with a space between: the operationId; letters (`s`: sending it
 * again after a lost answer is harmless, `b`: it costs money each time it succeeds, `r`: it changes nothing, `k`: it takes an
 * `Idempotency-Key`); then a word for each field of its form, as `write` reads it.
 */
export type Meta = string;

/** A function like the global `fetch`. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** Something that is to happen around each sending: gets what sends, answers what is to be used in its place. */
export type Middleware = (next: Fetch) => Fetch;

/** Where a client takes the time from. */
export interface Clock {
  /** Milliseconds; only differences matter. */
  now(): number;
  /** Resolves after so many milliseconds, or when the signal is aborted. */
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
export type ClientEvent = Told &
  DryRun & {
    /** From 1. */
    readonly attempt: number;
    /** Since this sending began. */
    readonly milliseconds: number;
  };

/** What happened: it is sent, it was answered well, it failed, it will be sent again after `delay` milliseconds. */
export type Told =
  | { readonly type: 'request' }
  | { readonly type: 'response'; readonly status: number }
  | { readonly type: 'failure'; readonly error: ResellerError }
  | { readonly type: 'retry'; readonly error: ResellerError; readonly delay: number };

export interface ClientOptions {
  /** Base address, with or without a closing slash. */
  baseUrl?: string;
}

/** How a client of single functions is made. */
export interface CoreConfig extends ClientOptions {
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
  /** Gets every good answer. `drift` of `@reseller/client/drift` makes one that finds what the document does not describe. */
  onDrift?: ((operation: string, answer: unknown) => void) | undefined;
  /** Who is calling, for the user agent. */
  appInfo?: { readonly name: string; readonly version: string; readonly url: string } | undefined;
  /** For tests: where time comes from. */
  clock?: Clock | undefined;
}

/** How the whole client is made. */
export interface ClientConfig extends CoreConfig {
  /** Asked before each call that costs money; what it throws refuses the call. */
  beforeBillable?: ((purchase: Purchase) => void | Promise<void>) | undefined;
  /** Purchases beyond it are refused. Those whose outcome is unknown count. */
  budget?: Budget | undefined;
  /** Refuses every call that changes something, before it is sent; `error.curl` says what would have been. */
  dryRun?: boolean | undefined;
  onEvent?: ((event: ClientEvent) => void) | undefined;
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
  /** Where the operation's path has identifiers in it. */
  fill?: Fill;
  body?: unknown;
  meta?: Meta;
  /** Where the operation has a form or changes something. */
  write?: Write;
  reconcile?: boolean | undefined;
}

/** What the whole client has beyond sending: spend guard, events, and what `reconcile` needs to know. */
export interface Extras {
  /** Around a request, however often it is sent; `read` makes the result of an answer that was found in the log. */
  around<T extends object>(
    prepared: Prepared,
    run: () => Promise<T>,
    read: (response: Response, prepared: Prepared) => Promise<T>,
  ): Promise<T>;
  tell(prepared: Prepared, what: Told): void;
  /** Asks the spend guard, and gives back what it took out of the budget. */
  rehearse(prepared: Prepared): Promise<void>;
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
  readonly post: Send;
  readonly put: Send;
  readonly clock: Clock;
}
