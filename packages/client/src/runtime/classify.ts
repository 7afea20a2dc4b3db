/** Classifies the result of one attempt: whether the request was carried out, and which error describes it. */
import {
  AbortedError,
  AuthenticationError,
  ConflictError,
  ConnectionError,
  CreditLimitError,
  ResponseError,
  InvalidError,
  NotFoundError,
  PermissionError,
  RateLimitError,
  ResellerError,
  ServerError,
  TimeoutError,
} from './errors.ts';
import type { ErrorClass, ErrorDetails, ResponseErrorReason } from './errors.ts';
import { parseJson } from './json.ts';
import { rootCause } from './send.ts';
import type { Received, NoResponse } from './send.ts';

export type Verdict = Success | Failure;

export interface Success {
  readonly kind: 'success';
  readonly data: never;
  readonly requestID: string | null;
  readonly message: string;
}

export interface Failure {
  readonly kind: 'failure';
  /** The source of the response: the API, something in front of it such as a gateway, or none. */
  readonly source: 'api' | 'foreign' | 'none';
  /** Whether this attempt was carried out, as far as its result tells. */
  readonly carriedOut: 'no' | 'unknown';
  /** Whether the API refused the request itself. Such a refusal also settles every earlier attempt with the same key. */
  readonly settles: boolean;
  /** Whether a retry may succeed. */
  readonly transient: boolean;
  /** Milliseconds that the server asks to wait. */
  readonly retryAfterMs?: number | undefined;
  /** Describes the failure when no retry follows. */
  readonly error: {
    readonly Class: ErrorClass;
    readonly message: string;
    readonly details: Partial<ErrorDetails>;
    readonly cause?: unknown;
  };
}

export function classifyNoResponse({ kind, left, status, headers, cause }: NoResponse, timeoutMs: number): Failure {
  const why = String(rootCause(cause));
  const [Class, message]: readonly [ErrorClass, string] =
    kind === 'aborted'
      ? [AbortedError, 'the signal aborted the call']
      : kind === 'timeout'
        ? [TimeoutError, `no complete response within ${timeoutMs} ms`]
        : status === undefined
          ? [ConnectionError, `no response: ${why}`]
          : [ResponseError, `the response broke off: ${why}`];
  return {
    kind: 'failure',
    source: 'none',
    carriedOut: left ? 'unknown' : 'no',
    settles: false,
    transient: kind !== 'aborted',
    error: { Class, message, details: { status, headers, ...(Class === ResponseError && { reason: 'cut' }) }, cause },
  };
}

/** A gateway's error page does not show whether the service carried out the request. */
export function classifyForeign(received: Received, reason: ResponseErrorReason = foreignReason(received)): Failure {
  const { status, headers } = received;
  const location = reason === 'redirect' ? headers.get('location') : null;
  const target = location === null ? '' : ` to ${location}`;
  return {
    kind: 'failure',
    source: 'foreign',
    carriedOut: 'unknown',
    settles: false,
    transient: isTransient(status) || reason === 'cut',
    retryAfterMs: retryAfterMs(headers),
    error: {
      Class: ResponseError,
      message: `the response is not from the API: status ${status}, ${reason}${target}. Is the baseUrl right?`,
      details: { status, headers, reason },
    },
  };
}

/** Whether a status is that of a redirect. Browsers hide it and report 0. */
export function isRedirect(status: number): boolean {
  return status < 200 || (status >= 300 && status < 400);
}

function foreignReason({ status, text }: Received): ResponseErrorReason {
  if (isRedirect(status)) return 'redirect';
  if (parseJson(text) !== undefined) return 'no-envelope';
  if (/^\s*</.test(text)) return 'html';
  return /^\s*\{/.test(text) ? 'cut' : 'not-json';
}

/** Whether a retry may succeed after a response with this status. */
export function isTransient(status: number): boolean {
  return [408, 425, 429].includes(status) || (status >= 500 && status !== 501);
}

/**
 * Whether a refusal of the API with this status shows that the request was not carried out. A service may fail with 5xx after it has
 * carried out a request, and 408 and 425 may come from something in front of it. With 501 it says that it never can.
 */
export function isRefusal(status: number): boolean {
  return status === 501 || (status < 500 && status !== 408 && status !== 425);
}

/** The class of the error that describes a refusal with this status. */
export function classOf(status: number): ErrorClass {
  return CLASSES[status] ?? (status >= 500 ? ServerError : ResellerError);
}

const CLASSES: Readonly<Record<number, ErrorClass>> = {
  400: InvalidError,
  401: AuthenticationError,
  402: CreditLimitError,
  403: PermissionError,
  404: NotFoundError,
  409: ConflictError,
  413: InvalidError,
  415: InvalidError,
  422: InvalidError,
  429: RateLimitError,
};

/** Milliseconds that `Retry-After` asks to wait. It holds seconds or an HTTP date. */
export function retryAfterMs(headers: Headers): number | undefined {
  const value = headers.get('retry-after') ?? '';
  const ms = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now();
  return ms > 0 ? ms : undefined;
}
