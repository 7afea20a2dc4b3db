import { RateLimited } from '../rules/refusal.ts';
import type { RateLimit } from '../store/settings.ts';
import type { Windows } from '../store/store.ts';
import { createWindowCounter } from './window-limit.ts';

/**
 * Counts a request of a key across all instances. A window begins with a request.
 *
 * @throws RateLimited if the key has used up its limit.
 */
export type CountRequest = (keyId: string, limit: RateLimit) => Promise<void>;

export function createRateLimiter(windows: Windows): CountRequest {
  const count = createWindowCounter(windows, 'requests of a key');
  return async (keyId, { requests, seconds }) => {
    // The limit is part of the name, so that a new limit begins a new window.
    const retryAfter = await count(`${keyId} ${requests}/${seconds}`, { max: requests, windowMs: seconds * 1000 });
    if (retryAfter !== undefined) throw new RateLimited(retryAfter);
  };
}
