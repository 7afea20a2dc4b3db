/** A request from its first attempt until it is settled. */
import { classifyNoResponse } from './classify.ts';
import type { Failure, Success } from './classify.ts';
import { learnKeySupport } from './connection.ts';
import type { Connection } from './connection.ts';
import { OutcomeUnknownError } from './errors.ts';
import type { ErrorClass, ErrorDetails, ResellerError } from './errors.ts';
import type { Operation } from './operation.ts';
import type { RequestOptions, Step } from './options.ts';
import { isLostAfter, retryDelayMs } from './retry.ts';
import { sendOnce } from './send.ts';
import type { Received, WireRequest } from './send.ts';

/** A request that can be sent. */
export interface Sendable {
  readonly operation: Pick<Operation, 'id' | 'effect' | 'repeatable' | 'keyed'>;
  readonly method: string;
  readonly url: string;
  readonly body: string | null;
  /** As a command line, without credentials and secrets. */
  readonly curl: string;
  /** Undefined when the operation takes no key. */
  readonly idempotencyKey?: string | undefined;
  readonly options: RequestOptions;
  /** Whether an earlier attempt may have been carried out. */
  readonly isLost?: boolean;
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
  const { fetch, clock, keys } = connection;
  const { operation, options } = request;
  const { signal, timeoutMs = connection.timeoutMs, maxRetries = connection.maxRetries } = options;
  const wire = wireRequestOf(connection, request);
  let { isLost = false } = request;
  for (let attempts = 1; ; attempts++) {
    observe({ type: 'request' }, attempts);
    const attempt = await sendOnce(wire, { fetch, timeoutMs, signal });
    let failure: Failure;
    if (attempt.kind === 'received') {
      learnKeySupport(keys, attempt.headers);
      const verdict = connection.classify(attempt);
      if (verdict.kind === 'success') {
        observe({ type: 'response', status: attempt.status, requestID: verdict.requestID }, attempts);
        return responseOf(attempt, verdict, attempts);
      }
      failure = verdict;
    } else failure = classifyNoResponse(attempt, timeoutMs);
    isLost = isLostAfter(isLost, failure);
    const isRepeatable = operation.repeatable === true || (keys.honoured === true && operation.keyed === true);
    const delay = retryDelayMs(failure, { isRepeatable, mayBeCarriedOut: isLost, retries: attempts - 1, maxRetries });
    const sent = attempt.kind === 'aborted' && !attempt.left ? attempts - 1 : attempts;
    const error = delay === undefined ? settle(connection, request, failure, sent, isLost) : errorOfFailure(request, failure, sent, isLost);
    observe({ type: 'failure', error, delay }, attempts);
    if (delay === undefined) throw error;
    await clock.sleep(delay, signal);
  }
}

/** The error that a request ends with. */
export function settle(
  { adviceWhenLost }: Pick<Connection, 'adviceWhenLost'>,
  request: Sendable,
  failure: Failure,
  attempts: number,
  isLost: boolean,
): ResellerError {
  const last = errorOfFailure(request, failure, attempts, isLost);
  if (!isLost || request.operation.repeatable) return last;
  const { status, requestID, retryAfter } = last;
  const message = `the outcome is unknown, because the response was lost: ${failure.error.message}. ${adviceWhenLost}`;
  return errorOf(OutcomeUnknownError, request, message, { attempts, uncertain: true, status, requestID, retryAfter }, last);
}

function errorOfFailure(request: Sendable, { error, retryAfterMs }: Failure, attempts: number, isLost: boolean): ResellerError {
  const retryAfter = retryAfterMs === undefined ? undefined : Math.ceil(retryAfterMs / 1000);
  const uncertain = isLost && request.operation.effect !== 'read';
  return errorOf(error.Class, request, error.message, { ...error.details, retryAfter, attempts, uncertain }, error.cause);
}

function wireRequestOf({ credentials, headers }: Connection, { method, url, body, idempotencyKey, options }: Sendable): WireRequest {
  return {
    url,
    method,
    body,
    headers: {
      ...headers,
      ...credentials(),
      ...(idempotencyKey !== undefined && { 'Idempotency-Key': idempotencyKey }),
      ...options.headers,
    },
  };
}

function responseOf(received: Received, { data, requestID, message }: Success, attempts: number): ApiResponse<never> {
  function toResponse() {
    // `Response` accepts no body for a status such as 204, not even an empty one.
    return new Response(received.text || null, received);
  }
  return { data, requestID, message, status: received.status, attempts, toResponse };
}
