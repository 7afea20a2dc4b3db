import type { Clock } from '../ports/clock.ts';

/** A clock that is ahead of another one. */
export interface OffsetClock extends Clock {
  /** The clock that it is ahead of. */
  readonly base: Clock;
  /** By how many milliseconds. */
  readonly offset: number;
  setOffset(milliseconds: number): void;
}

/** The clock of a sandbox: it runs on with another one, from what it was advanced to. */
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
