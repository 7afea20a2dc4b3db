/** What one sending tells: whether the request was carried out, and which error describes it. */
import type { FieldError } from '../generated/types.gen.ts';
import {
  AbortedError,
  AuthenticationError,
  ConflictError,
  ConnectionError,
  CreditLimitError,
  AnswerError,
  InvalidError,
  NotFoundError,
  RateLimitError,
  ResellerError,
  ServerError,
  TimeoutError,
} from './errors.ts';
import type { ErrorClass, ErrorDetails, AnswerReason } from './errors.ts';
import { isRecord, parseJson } from './json.ts';
import { rootCause } from './send.ts';
import type { Attempt, Received } from './send.ts';

/** The envelope of every response of the API (specification: "Response envelope (all endpoints)"). */
export interface Envelope {
  readonly status: string;
  readonly requestID: string | null;
  readonly message: string;
  readonly data: never;
  readonly type?: string;
}

export type Verdict = Success | Failure;

export interface Success {
  readonly kind: 'success';
  readonly envelope: Envelope;
}

export interface Failure {
  readonly kind: 'failure';
  /** Who answered: the API itself, something before it such as a gateway, or no one. */
  readonly source: 'api' | 'foreign' | 'none';
  /** Whether this sending was carried out, as far as it tells. */
  readonly carriedOut: 'no' | 'unknown';
  /** Whether the API refused the request itself. Such a refusal also settles every earlier sending with the same key. */
  readonly settles: boolean;
  /** Whether another sending may fare better. */
  readonly transient: boolean;
  /** Milliseconds that the server asks to wait. */
  readonly retryAfterMs?: number | undefined;
  /** Describes the failure when no further sending follows. */
  readonly error: {
    readonly Class: ErrorClass;
    readonly message: string;
    readonly details: Partial<ErrorDetails>;
    readonly cause?: unknown;
  };
}

export function classify(attempt: Attempt, timeoutMs: number): Verdict {
  if (attempt.kind !== 'received') return classifyUnanswered(attempt, timeoutMs);
  const envelope = readEnvelope(attempt);
  if (!envelope) return classifyForeign(attempt);
  return envelope.status === 'success' && attempt.status < 300 ? { kind: 'success', envelope } : classifyRefusal(attempt, envelope);
}

function classifyUnanswered({ kind, left, status, cause }: Exclude<Attempt, Received>, timeoutMs: number): Failure {
  const common = { kind: 'failure', source: 'none', carriedOut: left ? 'unknown' : 'no', settles: false } as const;
  const details = { status };
  if (kind === 'aborted')
    return { ...common, transient: false, error: { Class: AbortedError, message: 'the signal aborted the call', details, cause } };
  if (kind === 'timeout') {
    return {
      ...common,
      transient: true,
      error: { Class: TimeoutError, message: `no complete response within ${timeoutMs} ms`, details, cause },
    };
  }
  const why = String(rootCause(cause));
  if (status !== undefined) {
    const message = `the response broke off: ${why}`;
    return { ...common, transient: true, error: { Class: AnswerError, message, details: { ...details, reason: 'cut' }, cause } };
  }
  return { ...common, transient: true, error: { Class: ConnectionError, message: `no response: ${why}`, details, cause } };
}

/** A page of a gateway says nothing about what happened behind it, whatever its status. */
function classifyForeign(received: Received): Failure {
  const { status, headers } = received;
  const reason = foreignReason(received);
  const target = reason === 'redirect' ? ` to ${headers.get('location')}` : '';
  return {
    kind: 'failure',
    source: 'foreign',
    carriedOut: 'unknown',
    settles: false,
    transient: isTransient(status) || reason === 'cut',
    retryAfterMs: retryAfterMs(headers),
    error: {
      Class: AnswerError,
      message: `the response is not from the API: status ${status}, ${reason}${target}. Is the baseUrl right?`,
      details: { status, reason },
    },
  };
}

function foreignReason({ status, text }: Received): AnswerReason {
  // Browsers hide the status of a redirect and report 0.
  if (status < 200 || (status >= 300 && status < 400)) return 'redirect';
  if (parseJson(text) !== undefined) return 'no-envelope';
  if (/^\s*</.test(text)) return 'html';
  return /^\s*\{/.test(text) ? 'cut' : 'not-json';
}

function classifyRefusal({ status, headers }: Received, { type, requestID, message, data }: Envelope): Failure {
  const isPending = type === 'idempotency_key_in_progress';
  // The server responds with 503 or 501 without carrying out the request: 501 means that it never can.
  const isUnknown = isPending || (status >= 500 && status !== 501 && status !== 503);
  return {
    kind: 'failure',
    source: 'api',
    carriedOut: isUnknown ? 'unknown' : 'no',
    settles: !isUnknown && !SAYS_NOTHING_OF_THE_REQUEST.has(status) && type !== 'idempotency_key_reused',
    transient: isPending || isTransient(status),
    retryAfterMs: retryAfterMs(headers),
    error: {
      Class: classOf(status),
      message: message === '' ? `the service answered with status ${status}` : message,
      details: { status, type, requestID, fields: readFieldErrors(data) },
    },
  };
}

/** Refusals of the caller, or of any request at this moment. An earlier sending may have been carried out all the same. */
const SAYS_NOTHING_OF_THE_REQUEST: ReadonlySet<number> = new Set([401, 403, 408, 425, 429, 501, 503]);

/** Whether another sending may fare better than a response with this status. */
export function isTransient(status: number): boolean {
  return status === 408 || status === 425 || status === 429 || (status >= 500 && status !== 501);
}

function readEnvelope({ status, text }: Received): Envelope | undefined {
  if (status < 200 || (status >= 300 && status < 400)) return undefined;
  const json = parseJson(text);
  return isEnvelope(json) ? json : undefined;
}

/**
 * All members must be there: other services answer with a `status` and `data` too. The content of `data` is not checked here:
 * the generated signatures give its type. Unknown fields and values must not fail a call that succeeded; `onDrift` reports them.
 */
function isEnvelope(json: unknown): json is Envelope {
  if (!isRecord(json) || !('data' in json)) return false;
  const { status, requestID, message } = json;
  return typeof status === 'string' && typeof message === 'string' && (requestID === null || typeof requestID === 'string');
}

function readFieldErrors(data: unknown): readonly FieldError[] | undefined {
  if (!isRecord(data) || !Array.isArray(data['fields'])) return undefined;
  return data['fields']
    .filter(isRecord)
    .map(({ field, rule, message }) => ({ field: String(field), rule: String(rule), message: String(message) }));
}

function classOf(status: number): ErrorClass {
  return CLASSES.get(status) ?? (status >= 500 ? ServerError : ResellerError);
}

const CLASSES: ReadonlyMap<number, ErrorClass> = /* @__PURE__ */ new Map<number, ErrorClass>([
  [400, InvalidError],
  [401, AuthenticationError],
  [402, CreditLimitError],
  [403, AuthenticationError],
  [404, NotFoundError],
  [409, ConflictError],
  [413, InvalidError],
  [415, InvalidError],
  [422, InvalidError],
  [429, RateLimitError],
]);

/** Milliseconds that `Retry-After` asks to wait. It holds seconds or an HTTP date. */
export function retryAfterMs(headers: Headers): number | undefined {
  const value = headers.get('retry-after');
  if (value === null) return undefined;
  const ms = /^\d+$/.test(value.trim()) ? Number(value) * 1000 : Date.parse(value) - Date.now();
  return ms > 0 ? ms : undefined;
}
