import type { Clock } from './options.ts';

/** The longest delay that a timer can hold. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Time that passes evenly: setting the clock of the machine does not change it. */
export const systemClock: Required<Clock> = {
  now: () => performance.now(),
  date: () => Date.now(),
  sleep: (milliseconds, signal) =>
    new Promise((resolve) => {
      function finish() {
        clearTimeout(timer);
        signal?.removeEventListener('abort', finish);
        resolve();
      }
      const timer = setTimeout(finish, milliseconds);
      signal?.addEventListener('abort', finish);
      if (signal?.aborted) finish();
    }),
  setTimer(milliseconds, callback) {
    const timer = setTimeout(callback, Math.min(milliseconds, MAX_TIMER_MS));
    return () => clearTimeout(timer);
  },
};

/** A moment by both clocks, because a machine that sleeps stops one of them, and a person can set the other. */
export interface Moment {
  /** Milliseconds, by `now`. */
  readonly sentAt: number;
  /** Milliseconds since 1970, by `date`. */
  readonly sentOn: number;
}

export function momentOf(clock: Clock): Moment {
  return { sentAt: clock.now(), sentOn: dateOf(clock) };
}

/** Milliseconds since a moment, by the clock that says more. */
export function ageOf({ sentAt, sentOn }: Moment, clock: Clock): number {
  return Math.max(clock.now() - sentAt, dateOf(clock) - sentOn);
}

/** Milliseconds since 1970, by a clock that goes on while the machine sleeps. */
export function dateOf(clock: Clock): number {
  return clock.date?.() ?? Date.now();
}
