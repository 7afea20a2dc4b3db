/** The clock and the random numbers of the machine, and the clock of a sandbox. */
import { randomBytes } from 'node:crypto';

import type { Random } from '../rules/random.ts';

/** The service's only source of time. */
export interface Clock {
  /** Milliseconds since 1970-01-01T00:00:00Z. */
  now(): number;
}

/** The clock of the machine. */
export const systemClock: Clock = { now: () => Date.now() };

/** A clock that is ahead of a base clock. */
export interface OffsetClock extends Clock {
  readonly base: Clock;
  /** Milliseconds. */
  readonly offset: number;
  setOffset(milliseconds: number): void;
}

/** The clock of a sandbox. @param initial Milliseconds. */
export function offsetClock(base: Clock, initial: number): OffsetClock {
  let offset = initial;
  return {
    base,
    get offset() {
      return offset;
    },
    setOffset(milliseconds) {
      offset = milliseconds;
    },
    now: () => base.now() + offset,
  };
}

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
