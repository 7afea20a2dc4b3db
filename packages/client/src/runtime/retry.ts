/** Whether and when a request is sent again. */
import type { Failure } from './classify.ts';

/** The inputs of the retry decision. */
export interface RetryState {
  /** A repeated request never has a second effect, by the document or because the server honours its idempotency key. */
  readonly isRepeatable: boolean;
  /** Whether any attempt so far may have been carried out. */
  readonly mayBeCarriedOut: boolean;
  /** How many times the request was sent again so far. */
  readonly retries: number;
  readonly maxRetries: number;
}

const FIRST_BACKOFF_MS = 250;
const MAX_BACKOFF_MS = 4_000;
/** If a server asks for a longer pause, the request is not sent again. */
const MAX_RETRY_AFTER_MS = 60_000;

/** Milliseconds to wait before the request is sent again, or undefined when it must not be. */
export function retryDelayMs(failure: Pick<Failure, 'transient' | 'source' | 'retryAfterMs'>, state: RetryState): number | undefined {
  const { isRepeatable, mayBeCarriedOut, retries, maxRetries } = state;
  if (retries >= maxRetries || (mayBeCarriedOut && !isRepeatable)) return undefined;
  // The response to an earlier attempt was lost. Any further response of the API settles that attempt, too.
  if (!failure.transient && !(mayBeCarriedOut && failure.source === 'foreign')) return undefined;
  const { retryAfterMs = backoffMs(retries) } = failure;
  return retryAfterMs <= MAX_RETRY_AFTER_MS ? retryAfterMs : undefined;
}

/** Exponential backoff with jitter, so that clients that failed together do not retry together. */
export function backoffMs(retries: number): number {
  return Math.min(MAX_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** retries) * (1 + Math.random());
}
