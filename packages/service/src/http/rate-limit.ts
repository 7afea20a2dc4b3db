/** How many requests a key may send: counted by this node, in windows that begin with a request. */
import { RateLimited } from '../refusal.ts';
import type { RateLimit } from '../store/settings.ts';

/** Counts a request of a key. */
export type CountRequest = (keyId: string, limit: RateLimit) => void;

/** Keys counted at the most. */
const MOST_COUNTED = 100_000;

/**
 * The answered function throws RateLimited when the key has sent as many requests as its limit allows.
 *
 * @param now Milliseconds of a clock that never goes back.
 */
export function rateLimiter(now: () => number = () => performance.now()): CountRequest {
  const windows = new Map<string, { readonly since: number; count: number }>();
  return (keyId, { requests, seconds }) => {
    const at = now();
    const window = windows.get(keyId);
    if (window && at - window.since < seconds * 1000) {
      if (window.count >= requests) throw new RateLimited(Math.ceil((window.since + seconds * 1000 - at) / 1000));
      window.count++;
      return;
    }
    if (windows.size >= MOST_COUNTED) windows.clear();
    windows.set(keyId, { since: at, count: 1 });
  };
}
