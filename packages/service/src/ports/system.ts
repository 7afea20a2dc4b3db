/** The clock and the random numbers of the machine. */
import { randomBytes } from 'node:crypto';

import type { Random } from '../rules/random.ts';

/** The service's only source of time. */
export interface Clock {
  /** Milliseconds since 1970-01-01T00:00:00Z. */
  now(): number;
}

/** The clock of the machine. */
export const systemClock: Clock = { now: () => Date.now() };

/** A call of the operating system for a few bytes takes as long as for many. */
const POOL_BYTES = 8_192;

/** The operating system's random numbers. */
export const systemRandom: Random = pooled((count) => randomBytes(count));

function pooled(draw: (count: number) => Uint8Array): Random {
  let pool: Uint8Array = new Uint8Array();
  let used = 0;
  return {
    bytes(count) {
      if (count > POOL_BYTES) return draw(count);
      if (pool.length - used < count) {
        pool = draw(POOL_BYTES);
        used = 0;
      }
      return pool.subarray(used, (used += count));
    },
  };
}
