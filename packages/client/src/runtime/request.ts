/** A request from its first attempt until it is settled. */
import { classifyNoResponse } from './classify.ts';
import type { Failure, Success } from './classify.ts';
import { learnKeySupport } from './connection.ts';
import type { Connection } from './connection.ts';
import { OutcomeUnknownError } from './errors.ts';
import type { ErrorClass, ErrorDetails, ResellerError } from './errors.ts';
import type { Operation } from './operation.ts';
import type { RequestOptions, Step } from './options.ts';
import { retryDelayMs } from './retry.ts';
import { sendOnce } from './send.ts';
import type { Received, WireRequest } from './send.ts';

/** A request that can be sent. */
export interface Sendable {
  readonly operation: Pick<Operation, 'id' | 'effect' | 'repeatable' | 'keyed' | 'has'>;
  readonly method: string;
  readonly url: string;
  readonly body: string | null;
  /** As a command line, without credentials and secrets. */
  readonly curl: string;
  /** Undefined when the operation takes no key. */
  readonly idempotencyKey?: string | undefined;
  readonly options: RequestOptions;
  /** Whether an earlier attempt may have been carried out. */
  readonly mayBeCarriedOut?: boolean;
}

/** A successful response. */
export interface ApiResponse<T> {
  readonly data: T;
  /** Null on some account and accounting lists. */
  readonly requestID: string | null;
  /** For people. Programs should not compare it. */
  readonly message: string;
  readonly status: number;
  /** How many times the request was sent. */
  readonly attempts: number;
  /** Paths within `data` that the request log masks and that are therefore missing. Only for responses that were found in the log. */
  readonly masked?: readonly string[];
  /** Makes the response. Its body can be read. A function, because few callers need it and a `Response` takes long to make. */
  readonly toResponse: () => Response;
}

/** Receives each step of a request. `attempt` counts from 1. */
export type Observe = (step: Step, attempt: number) => void;

/** An error about a request. Its message begins with the operation. */
export function errorOf<E extends ResellerError>(
  Class: ErrorClass<E>,
  { operation, curl, idempotencyKey }: Pick<Sendable, 'operation' | 'curl' | 'idempotencyKey'>,
  message: string,
  details: Partial<ErrorDetails> = {},
  cause?: unknown,
): E {
  const attempts = details.attempts ?? 0;
  const text = `${operation.id}: ${message}${attempts === 0 ? '. Nothing was sent.' : ''}`;
  return new Class(text, { operation: operation.id, attempts, curl, idempotencyKey, ...details }, cause);
}

/**
 * Sends a request until its outcome is certain or it must not be sent again.
 *
 * @throws OutcomeUnknownError when it may have been carried out and must not take effect twice.
 * @throws ResellerError of another class when it was not carried out, or when repeating it is harmless.
 */
export async function send(connection: Connection, request: Sendable, observe: Observe = () => {}): Promise<ApiResponse<never>> {
  const { clock, keys } = connection;
  const { operation, options } = request;
  const { signal, timeoutMs = connection.timeoutMs, maxRetries = connection.maxRetries, deadlineMs = connection.deadlineMs } = options;
  const wire = wireRequestOf(connection, request);
  const deadline = clock.now() + deadlineMs;
  let { mayBeCarriedOut = false } = request;
  for (let attempts = 1; ; attempts++) {
    observe({ type: 'request' }, attempts);
    const limit = Math.min(timeoutMs, deadline - clock.now());
    const attempt = await sendOnce(connection, wire, limit, signal);
    let failure: Failure;
    if (attempt.kind === 'received') {
      learnKeySupport(keys, attempt.headers);
      const verdict = connection.classify(attempt, operation);
      if (verdict.kind === 'success') {
        observe({ type: 'response', status: attempt.status, requestID: verdict.requestID }, attempts);
        return responseOf(attempt, verdict, attempts);
      }
      failure = verdict;
    } else failure = classifyNoResponse(attempt, limit);
    mayBeCarriedOut = !failure.settles && (mayBeCarriedOut || failure.carriedOut === 'unknown');
    const isRepeatable = operation.repeatable === true || (keys.honoured === true && operation.keyed === true);
    let delay = retryDelayMs(failure, { isRepeatable, mayBeCarriedOut, retries: attempts - 1, maxRetries });
    if (delay !== undefined && clock.now() + delay >= deadline) delay = undefined;
    const sent = attempt.kind === 'aborted' && !attempt.left ? attempts - 1 : attempts;
    let error = errorOfFailure(request, failure, sent, mayBeCarriedOut);
    if (delay === undefined && mayBeCarriedOut && !operation.repeatable) error = unknownOutcome(connection, request, error, failure);
    observe({ type: 'failure', error, delay }, attempts);
    if (delay === undefined) throw error;
    await clock.sleep(delay, signal);
  }
}

function unknownOutcome({ adviceWhenLost }: Connection, request: Sendable, last: ResellerError, failure: Failure): ResellerError {
  const { attempts, status, headers, requestID, retryAfter } = last;
  const message = `the outcome is unknown, because the response was lost: ${failure.error.message}. ${adviceWhenLost}`;
  return errorOf(OutcomeUnknownError, request, message, { attempts, uncertain: true, status, headers, requestID, retryAfter }, last);
}

function errorOfFailure(request: Sendable, { error, retryAfterMs }: Failure, attempts: number, mayBeCarriedOut: boolean): ResellerError {
  const retryAfter = retryAfterMs === undefined ? undefined : Math.ceil(retryAfterMs / 1000);
  const uncertain = mayBeCarriedOut && request.operation.effect !== 'read';
  return errorOf(error.Class, request, error.message, { ...error.details, retryAfter, attempts, uncertain }, error.cause);
}

function wireRequestOf(connection: Connection, { operation, method, url, body, idempotencyKey, options }: Sendable): WireRequest {
  const headers = new Headers(connection.headers);
  const own = {
    ...connection.credentials(),
    ...(idempotencyKey !== undefined && { 'Idempotency-Key': idempotencyKey }),
    ...options.headers,
  };
  for (const [name, value] of Object.entries(own)) headers.set(name, value);
  return { url, method, headers, body, once: !operation.repeatable };
}

function responseOf(received: Received, { data, requestID, message }: Success, attempts: number): ApiResponse<never> {
  function toResponse() {
    // `Response` accepts no body for a status such as 204, not even an empty one.
    return new Response(received.text || null, received);
  }
  return { data, requestID, message, status: received.status, attempts, toResponse };
}
