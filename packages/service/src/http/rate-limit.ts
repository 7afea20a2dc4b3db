/** How many requests a key may send, to all nodes together, in windows that begin with a request. */
import { RateLimited } from '../refusal.ts';
import type { RateLimit } from '../store/settings.ts';
import type { Windows } from '../store/store.ts';

/**
 * Counts a request of a key.
 *
 * @throws RateLimited when the key has sent as many requests as its limit allows.
 */
export type CountRequest = (keyId: string, limit: RateLimit) => Promise<void>;

/** Windows remembered at the most. */
const MOST_REMEMBERED = 10_000;

/**
 * Exact over all nodes: each request is counted where they all count. A window that is known to be
 * full is not asked for again, so whoever goes on sending costs nothing.
 */
export function rateLimiter(windows: Windows): CountRequest {
  const full = new Map<string, number>();
  return async (keyId, { requests, seconds }) => {
    // Another limit begins another window.
    const name = `requests ${keyId} ${requests}/${seconds}`;
    const now = performance.now();
    const until = full.get(name);
    if (until !== undefined && until > now) throw new RateLimited(Math.ceil((until - now) / 1000));
    full.delete(name);
    const { count, endsIn } = await windows.count(name, seconds * 1000);
    if (count <= requests) return;
    if (full.size >= MOST_REMEMBERED) full.clear();
    full.set(name, now + endsIn);
    throw new RateLimited(Math.ceil(endsIn / 1000));
  };
}
