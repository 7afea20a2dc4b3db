import { randomBytes } from 'node:crypto';

import type { Random } from '../rules/random.ts';

/** A call of the operating system for a few bytes takes as long as for many. */
const POOL_BYTES = 8_192;

/** The operating system's random numbers. */
export const systemRandom: Random = pooled((count) => randomBytes(count));

function pooled(draw: (count: number) => Uint8Array): Random {
  let pool: Uint8Array = new Uint8Array();
  return {
    bytes(count) {
      if (count > POOL_BYTES) return draw(count);
      if (pool.length < count) pool = draw(POOL_BYTES);
      // A copy, so that callers never share memory.
      const bytes = pool.slice(0, count);
      pool = pool.subarray(count);
      return bytes;
    },
  };
}
