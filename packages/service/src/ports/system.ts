/** The clock and the random numbers of the machine, and the clock of a sandbox. */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';

import type { Random } from '../rules/random.ts';

/** The service's only source of time. */
export interface Clock {
  /** Milliseconds since 1970-01-01T00:00:00Z. */
  now(): number;
  /** Whether NTP keeps it right. A clock without this function cannot tell. */
  isSynchronized?(): Promise<boolean>;
}

/** Longer than a busy machine takes to start a command. */
const SYNCHRONIZED_TIMEOUT_MS = 5_000;

/** The clock of the machine. */
export const systemClock: Clock = { now: () => Date.now(), isSynchronized: isClockSynchronized };

/** Linux forgets that its clock is synchronized when it boots, and when anybody but NTP sets the clock. */
export function isClockSynchronized(): Promise<boolean> {
  return new Promise((resolve) => {
    execFile('timedatectl', ['show', '--property=NTPSynchronized', '--value'], { timeout: SYNCHRONIZED_TIMEOUT_MS }, (error, stdout) =>
      resolve(error === null && stdout.trim() === 'yes'),
    );
  });
}

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
