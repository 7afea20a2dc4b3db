/** Options of clients and of single calls. */
import type { ResellerError } from './errors.ts';
import type { Values } from './form.ts';

/** A function like the global `fetch`. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/**
 * Wraps each attempt: takes the function that sends the request, and returns its replacement. If the replacement throws before it calls
 * that function, the request counts as not sent. It must pass on the `Idempotency-Key` as it is, or nothing is sent.
 */
export type Middleware = (next: Fetch) => Fetch;

/** A source of time. */
export interface Clock {
  /** Milliseconds. Only differences matter, so it must not jump when the clock of the machine is set. */
  now(): number;
  /** Resolves after this many milliseconds, or when the signal is aborted. */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>;
  /** Calls back after this many milliseconds. Returns what cancels it. By default a timer of the system. */
  setTimer?(milliseconds: number, callback: () => void): () => void;
  /** Milliseconds since 1970. Unlike `now`, it goes on while the machine sleeps. By default `Date.now`. */
  date?(): number;
}

/** Limits of a client, or of one call. */
export interface Limits {
  /** Milliseconds that one attempt may take, including its response. Default 30,000. */
  timeoutMs?: number | undefined;
  /** Milliseconds that a call may take with all its attempts and the pauses between them. Default: no limit. */
  deadlineMs?: number | undefined;
  /** How many times a request is sent again when that is harmless. Default 2. */
  maxRetries?: number | undefined;
}

/** Options of `createClient`. */
export interface ClientConfig extends Limits {
  /** The API key. By default the environment variable `RESELLER_API_KEY`. */
  apiKey?: string | undefined;
  /** Base address of the API, with or without a trailing slash. */
  baseUrl: string | URL;
  /** Replaces the global `fetch`. It must send each request once: the client decides whether to send it again. */
  fetch?: Fetch | undefined;
  /** Wraps `fetch`. The first one is outermost. */
  middleware?: readonly Middleware[] | undefined;
  /** Headers of every request. */
  headers?: Headers | Readonly<Record<string, string>> | undefined;
  /**
   * Whether the server honours `Idempotency-Key`. By default the client learns it from the server's responses
   * (`Idempotency-Key-Lifetime`). When it does, a purchase whose response was lost is sent again with the same key.
   */
  honoursIdempotencyKey?: boolean | undefined;
  /** Replaces the system clock, for tests. */
  clock?: Clock | undefined;
}

/** Options of one call. */
export interface RequestOptions extends Limits {
  /** Aborts the call. */
  signal?: AbortSignal | undefined;
  /**
   * The key of the call and all its attempts. By default, each call has a random key. Store your own key to repeat the call after a crash,
   * on a server that honours keys. Characters that a header cannot have are percent-encoded.
   */
  idempotencyKey?: string | undefined;
  /** Further headers. */
  headers?: Readonly<Record<string, string>> | undefined;
}

/** A purchase, before it is sent. */
export interface Purchase {
  /** The operationId of the document: `createVm`. Of `request`, the method and the path. */
  readonly operation: string;
  readonly path: Values;
  readonly form: Values;
}

/** A request without secrets: the result of `dryRun`. */
export interface DryRun {
  /** The operationId of the document: `createVm`. */
  readonly operation: string;
  readonly billable: boolean;
  readonly method: string;
  readonly url: string;
  /** Secrets and personal data are masked. */
  readonly form: Values;
  /** The request as a command line. */
  readonly curl: string;
}

/** One step of a call, for logs and metrics. */
export type ClientEvent = Step &
  DryRun & {
    /** From 1. */
    readonly attempt: number;
    /** Since this attempt began. */
    readonly milliseconds: number;
  };

/** A request is sent, its response came, or it failed. */
export type Step =
  | { readonly type: 'request' }
  | {
      readonly type: 'response';
      readonly status: number;
      /** Quote it when you ask the provider about the request. */
      readonly requestID: string | null;
    }
  | {
      readonly type: 'failure';
      readonly error: ResellerError;
      /** Milliseconds until it is sent again. Undefined when it is not. */
      readonly delay: number | undefined;
    };

/** Where log lines go: `console` fits. A logger that takes the details first, such as pino, needs a wrapper. */
export interface Logger {
  debug(message: string, details?: object): void;
  info(message: string, details?: object): void;
  warn(message: string, details?: object): void;
  error(message: string, details?: object): void;
}

/** `debug` logs every attempt, `info` every call that changed something, `warn` every retry and failure, `error` every unknown outcome. */
export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'off';
