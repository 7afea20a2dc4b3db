import { exactRate } from '../../store/rate.ts';
import type { RateLimit } from '../../store/settings.ts';
import type { Windows } from '../../store/store.ts';

/** The requests that a key may still send. */
export interface Quota {
  readonly limit: RateLimit;
  /** Requests that it may send at once. */
  readonly remaining: number;
  /** Whole seconds until it may send all requests of the limit at once. */
  readonly resetSeconds: number;
}

/** Counts a request of a key across all instances. Returns its quota, and whole seconds to wait if the request exceeds the limit. */
export type CountRequest = (keyId: string, limit: RateLimit) => Promise<{ readonly quota: Quota; readonly retryAfter: number | undefined }>;

/** Maximum number of exhausted keys in the cache. */
const MAX_CACHED_KEYS = 10_000;

/** Exhausted keys are cached, so that requests beyond the limit do not reach the store. */
export function createRateLimiter(windows: Windows): CountRequest {
  /** The times at which keys are full again. */
  const exhausted = new Map<string, number>();
  return async (keyId, limit) => {
    // The limit is part of the name, so that a new limit starts with all its requests.
    const name = `${keyId} ${limit.requests}/${limit.seconds}`;
    const rate = { events: limit.requests, length: limit.seconds * 1000 };
    const { interval, length } = exactRate(rate);
    const [intervalMs, lengthMs] = [interval / 1000, length / 1000];
    const now = performance.now();
    const until = exhausted.get(name);
    const isKnown = until !== undefined && until - now + intervalMs > lengthMs;
    const { isAllowed, fullIn } = isKnown ? { isAllowed: false, fullIn: until - now } : await windows.take(name, rate);
    exhausted.delete(name);
    if (exhausted.size >= MAX_CACHED_KEYS) exhausted.clear();
    if (!isAllowed) exhausted.set(name, now + fullIn);
    const quota = {
      limit,
      remaining: isAllowed ? Math.floor((lengthMs - fullIn) / intervalMs) : 0,
      resetSeconds: Math.ceil(fullIn / 1000),
    };
    return { quota, retryAfter: isAllowed ? undefined : Math.max(1, Math.ceil((fullIn + intervalMs - lengthMs) / 1000)) };
  };
}

/** The fields RateLimit-Policy and RateLimit of the IETF draft "RateLimit header fields for HTTP". */
export function rateLimitFields({ limit, remaining, resetSeconds }: Quota): Readonly<Record<string, string>> {
  return {
    'ratelimit-policy': `"key";q=${limit.requests};w=${limit.seconds}`,
    ratelimit: `"key";r=${remaining};t=${resetSeconds}`,
  };
}
