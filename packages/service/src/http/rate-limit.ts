/** How many requests a key may send, to all nodes together, in windows that begin with a request. */
import { RateLimited } from '../rules/refusal.ts';
import type { RateLimit } from '../store/settings.ts';
import type { Windows } from '../store/store.ts';
import { windowLimits } from './window-limit.ts';

/**
 * Counts a request of a key.
 *
 * @throws RateLimited when the key has sent as many requests as its limit allows.
 */
export type CountRequest = (keyId: string, limit: RateLimit) => Promise<void>;

export function rateLimiter(windows: Windows): CountRequest {
  const countOne = windowLimits(windows);
  return async (keyId, { requests, seconds }) => {
    // Another limit begins another window.
    const retryAfter = await countOne(`requests ${keyId} ${requests}/${seconds}`, { most: requests, within: seconds * 1000 });
    if (retryAfter !== undefined) throw new RateLimited(retryAfter);
  };
}
