/** What a client is told, and what a single call is told. */
import type { ResellerError } from './errors.ts';
import type { Values, Write } from './form.ts';
import type { Fill } from './path.ts';

/**
 * What the document says of an operation, derived by `generate/`, in words with a space between: the operationId; its flags; then a word
 * for each field of its form, as `write` reads it.
 */
export type Meta = string;

/**
 * `s`: sending it again after a lost answer is harmless; `b`: it costs money each time it succeeds; `r`: it changes nothing; `k`: it takes an
 * `Idempotency-Key`.
 */
export type Flag = 's' | 'b' | 'r' | 'k';

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

/** What is sent, or would have been; a secret is in none of it. */
export interface DryRun {
  /** The operationId of the document. */
  readonly operation: string;
  readonly billable: boolean;
  readonly method: string;
  readonly url: string;
  /** Secrets masked. */
  readonly form: unknown;
  /** The request as a command line. */
  readonly curl: string;
}

/** What happens in a client, for logs and metrics. No secrets are in it. */
export type ClientEvent = Told &
  DryRun & {
    /** From 1. */
    readonly attempt: number;
    /** Since this sending began. */
    readonly milliseconds: number;
  };

/** What happened: it is sent, it was answered well, or it failed. */
export type Told =
  | { readonly type: 'request' }
  | { readonly type: 'response'; readonly status: number }
  | {
      readonly type: 'failure';
      readonly error: ResellerError;
      /** Milliseconds after which it will be sent again; undefined where it will not. */
      readonly delay: number | undefined;
    };

/** How a client of single functions is made. */
export interface CoreConfig {
  /** The API key, sent in the header that the document names. */
  apiKey: string;
  /** Base address, with or without a closing slash. */
  baseUrl: string;
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
  /** Gets every good answer. `drift` of `@reseller/client/drift` makes one that finds what the document does not describe. */
  onDrift?: ((operation: string, answer: unknown) => void) | undefined;
}

/** How one call is made. */
export interface CallOptions {
  /** Ends the call. */
  signal?: AbortSignal | undefined;
  timeoutMs?: number | undefined;
  maxRetries?: number | undefined;
  /**
   * A value of your own in place of a random one; keep it, and the call can be repeated after a crash, with a server that honours it. What
   * a header cannot hold of it is sent percent-encoded.
   */
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
  headers?: Record<string, string> | undefined;
  path?: Values | undefined;
  /** Where the operation's path has identifiers in it. */
  fill?: Fill;
  body?: Values | undefined;
  meta?: Meta;
  /** Where the operation has a form or changes something. */
  write?: Write;
  reconcile?: boolean | undefined;
}

/** Sends one kind of request; for the generated functions. */
export type Send = <TResponses, _TErrors, _ThrowOnError extends boolean>(
  options: RequestOptions,
) => Promise<DataOf<TResponses[keyof TResponses]>>;

/** The `data` of an envelope. */
export type DataOf<Envelope> = Envelope extends { data: infer Data } ? Data : never;

/** What sends the requests of the functions in `@reseller/client/operations`. */
export interface Client {
  readonly delete: Send;
  readonly get: Send;
  readonly post: Send;
  readonly put: Send;
  /** A function, so that the key is not shown where a client is. */
  config(): CoreConfig;
  /** The base address without a closing slash. */
  readonly base: string;
  readonly clock: Clock;
  /** With the middleware around it. */
  readonly fetch: Fetch;
  /** Whether the server is known to honour an `Idempotency-Key`. */
  honoured: boolean | undefined;
}
