/** A request from its first attempt until it is settled. */
import { ageOf, momentOf } from './clock.ts';
import type { Moment } from './clock.ts';
import { assertNotReserved, isKeyKept, learnKeySupport } from './connection.ts';
import type { Connection } from './connection.ts';
import { OutcomeUnknownError, ResellerError } from './errors.ts';
import type { ErrorDetails } from './errors.ts';
import type { Operation } from './operation.ts';
import type { RequestOptions, Step } from './options.ts';
import { retryAfterMs, retryDelayMs } from './retry.ts';
import { sendOnce } from './send.ts';
import type { Asked, Failure, Received, Success, WireRequest } from './wire.ts';

/** A request that can be sent. */
export interface Sendable extends Asked {
  readonly operation: Asked['operation'] & Pick<Operation, 'repeatable'>;
  readonly method: string;
  readonly url: string;
  readonly body: string | null;
  /** As a command line, without credentials and secrets. */
  readonly curl: string;
  /** Undefined when the operation takes no key. */
  readonly idempotencyKey?: string | undefined;
  readonly options: RequestOptions;
  /** When it was first sent, if the response to an earlier attempt was lost. */
  readonly firstSent?: Moment | undefined;
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
  /** Makes the response. Its body can be read. A function, because few callers need it and a `Response` takes long to make. */
  readonly toResponse: () => Response;
}

/** Receives each step of a request. `attempt` counts from 1. */
export type Observe = (step: Step, attempt: number) => void;

/** The description of an error. */
export type Failed<E extends ResellerError = ResellerError> = Pick<Failure<E>, 'Class' | 'message' | 'cause'> &
  Partial<Pick<Failure, 'details'>>;

/** An error about a request. Its message begins with the operation. */
export function errorOf<E extends ResellerError>(
  { operation, curl, idempotencyKey }: Pick<Sendable, 'operation' | 'curl' | 'idempotencyKey'>,
  { Class, message, details, cause }: Failed<E>,
  more: Partial<ErrorDetails> = {},
): E {
  const { attempts = 0 } = more;
  const text = `${operation.id}: ${message}${attempts === 0 ? '. Nothing was sent.' : ''}`;
  return new Class(text, { operation: operation.id, attempts, curl, idempotencyKey, ...details, ...more }, cause);
}

/**
 * Sends a request until its outcome is certain or it must not be sent again.
 *
 * @throws OutcomeUnknownError when it may have been carried out and must not take effect twice.
 * @throws ResellerError of another class when it was not carried out, or when repeating it is harmless.
 */
export async function send(connection: Connection, request: Sendable, observe: Observe = () => {}): Promise<ApiResponse<never>> {
  const progress = { observe, sent: 0 };
  try {
    return await sendUntilSettled(connection, request, progress);
  } catch (error) {
    if (error instanceof ResellerError || progress.sent === 0) throw error;
    throw failedAfterSending(connection, request, { error, attempts: progress.sent });
  }
}

/** The error for a failure of this program after it sent a request, as on a platform that lacks a function. It says nothing about the request. */
function failedAfterSending(
  connection: Connection,
  request: Sendable,
  { error, attempts }: { readonly error: unknown; readonly attempts: number },
): ResellerError {
  const message = `the client failed after it had sent the request: ${String(error)}`;
  const uncertain = request.operation.effect !== 'read';
  const cause = errorOf(request, { Class: ResellerError, message, cause: error }, { attempts, uncertain });
  return request.operation.repeatable ? cause : unknownOutcome(connection, request, cause, { message });
}

interface Progress {
  readonly observe: Observe;
  /** How many attempts have ended. */
  sent: number;
}

async function sendUntilSettled(connection: Connection, request: Sendable, progress: Progress): Promise<ApiResponse<never>> {
  const { observe } = progress;
  const { clock, keys } = connection;
  const { operation, options } = request;
  const { signal, timeoutMs = connection.timeoutMs, maxRetries = connection.maxRetries, deadlineMs = connection.deadlineMs } = options;
  const wire = wireRequestOf(connection, request);
  const deadline = clock.now() + deadlineMs;
  const first = request.firstSent ?? momentOf(clock);
  /** Whether an attempt may have been carried out, or may still arrive and be carried out. A refusal of another attempt does not settle it. */
  let isLost = request.firstSent !== undefined;
  function isRepeatable(): boolean {
    if (operation.repeatable === true) return true;
    return keys.honoured === true && request.idempotencyKey !== undefined && isKeyKept(keys, ageOf(first, clock), timeoutMs);
  }
  for (let retries = 0; ; retries++) {
    const attempts = signal?.aborted ? retries : retries + 1;
    observe({ type: 'request' }, attempts);
    const result = await sendOnce(connection, wire, Math.min(timeoutMs, deadline - clock.now()), signal);
    progress.sent = attempts;
    let failure: Failure;
    if ('text' in result) {
      learnKeySupport(keys, result.headers);
      const verdict = connection.classify(result, request);
      if ('data' in verdict) {
        observe({ type: 'response', status: result.status, requestID: verdict.requestID }, attempts);
        return responseOf(result, verdict, attempts);
      }
      failure = verdict;
    } else failure = result;
    isLost ||= failure.notCarriedOut === undefined;
    const remainingMs = deadline - clock.now();
    const delay = retryDelayMs(failure, { isRepeatable: isRepeatable(), mayBeCarriedOut: isLost, retries, maxRetries, remainingMs });
    const error = errorOfFailure(request, failure, attempts, isLost);
    const outcome = isLost && !operation.repeatable ? unknownOutcome(connection, request, error, failure) : error;
    observe({ type: 'failure', error: delay === undefined ? outcome : error, delay }, attempts);
    if (delay === undefined) throw outcome;
    await clock.sleep(delay, signal);
    // The machine may have slept much longer, and the server may have forgotten the key.
    if (isLost && !isRepeatable()) throw outcome;
  }
}

function errorOfFailure(request: Sendable, failure: Failure, attempts: number, mayBeCarriedOut: boolean): ResellerError {
  const waitMs = retryAfterMs(failure.details.headers);
  const retryAfter = waitMs && Math.ceil(waitMs / 1000);
  return errorOf(request, failure, { retryAfter, attempts, uncertain: mayBeCarriedOut && request.operation.effect !== 'read' });
}

function unknownOutcome(
  { adviceWhenLost }: Connection,
  request: Sendable,
  cause: ResellerError,
  last: Pick<Failure, 'message' | 'notCarriedOut'>,
): OutcomeUnknownError {
  const { attempts, status, headers, requestID, retryAfter } = cause;
  const why =
    last.notCarriedOut === undefined
      ? `because the response was lost: ${last.message}`
      : `because the response to an earlier attempt was lost. The last attempt was not carried out, which says nothing about the earlier one: ${last.message}`;
  const message = `the outcome is unknown, ${why}. ${adviceWhenLost}`;
  const details = { attempts, uncertain: true, status, headers, requestID, retryAfter };
  return errorOf(request, { Class: OutcomeUnknownError, message, cause }, details);
}

function wireRequestOf(connection: Connection, { operation, method, url, body, idempotencyKey, options }: Sendable): WireRequest {
  const headers = new Headers(connection.headers);
  if (body !== null) headers.set('Content-Type', 'application/x-www-form-urlencoded');
  const given = new Headers(options.headers);
  assertNotReserved(given, connection.reserved);
  given.forEach((value, name) => headers.set(name, value));
  for (const [name, value] of Object.entries(connection.credentials())) headers.set(name, value);
  if (idempotencyKey !== undefined) headers.set('Idempotency-Key', idempotencyKey);
  return { url, method, headers, body, once: !operation.repeatable };
}

function responseOf(received: Received, { data, requestID, message }: Success, attempts: number): ApiResponse<never> {
  function toResponse() {
    // `Response` accepts no body for a status such as 204, not even an empty one.
    return new Response(received.text || null, received);
  }
  return { data, requestID, message, status: received.status, attempts, toResponse };
}
