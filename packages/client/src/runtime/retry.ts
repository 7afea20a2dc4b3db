/** Whether and when a request is sent again. */
import type { Failure } from './wire.ts';

/** The inputs of the retry decision. */
export interface RetryState {
  /** A repeated request never has a second effect, by the document or because the server honours its idempotency key. */
  readonly isRepeatable: boolean;
  /** Whether any attempt so far may have been carried out. */
  readonly mayBeCarriedOut: boolean;
  /** How many times the request was sent again so far. */
  readonly retries: number;
  readonly maxRetries: number;
  /** Milliseconds until the deadline of the call. */
  readonly remainingMs: number;
}

const FIRST_BACKOFF_MS = 250;
const MAX_BACKOFF_MS = 4_000;
/** If a server asks for a longer pause, the request is not sent again. */
const MAX_RETRY_AFTER_MS = 60_000;

/** Milliseconds to wait before the request is sent again, or undefined when it must not be. */
export function retryDelayMs({ transient, details }: Pick<Failure, 'transient' | 'details'>, state: RetryState): number | undefined {
  const { isRepeatable, mayBeCarriedOut, retries, maxRetries, remainingMs } = state;
  if (retries >= maxRetries || (mayBeCarriedOut && !isRepeatable)) return undefined;
  // A page of a gateway does not settle an earlier attempt whose response was lost. A further response of the API does.
  if (!transient && !(mayBeCarriedOut && details.reason !== undefined)) return undefined;
  const delay = retryAfterMs(details.headers) ?? backoffMs(retries);
  return delay <= MAX_RETRY_AFTER_MS && delay < remainingMs ? delay : undefined;
}

/** Milliseconds that `Retry-After` asks to wait. It holds seconds or an HTTP date. Undefined for 0, a past date and anything else. */
export function retryAfterMs(headers: Headers | undefined): number | undefined {
  const value = headers?.get('retry-after') ?? '';
  const ms = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now();
  return ms > 0 ? ms : undefined;
}

/** Exponential backoff with jitter, so that clients that failed together do not retry together. */
export function backoffMs(retries: number): number {
  return Math.min(MAX_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** retries) * (1 + Math.random());
}
