import { randomBytes } from 'node:crypto';

import type { Random } from '../rules/random.ts';

/** Drawing a few bytes from the operating system costs as much as drawing many. */
const POOL_BYTES = 8_192;

/** The operating system's random numbers. */
export const systemRandom: Random = pooled((count) => randomBytes(count));

function pooled(draw: (count: number) => Uint8Array): Random {
  let pool: Uint8Array = new Uint8Array();
  return {
    bytes(count) {
      if (count > POOL_BYTES) return draw(count);
      if (pool.length < count) pool = draw(POOL_BYTES);
      // Copied, so that no two callers ever share bytes.
      const bytes = pool.slice(0, count);
      pool = pool.subarray(count);
      return bytes;
    },
  };
}
