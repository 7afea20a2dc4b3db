import type { Clock } from '../ports/system.ts';

/** A clock that is ahead of a base clock. */
export interface OffsetClock extends Clock {
  readonly base: Clock;
  /** Milliseconds. */
  readonly offset: number;
  setOffset(milliseconds: number): void;
}

/** The clock of a sandbox. */
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
