import type { Rate } from './store.ts';

/** A rate in whole microseconds, so that sums are exact. */
export interface ExactRate {
  /** Microseconds after which the rate allows one event more. */
  readonly interval: number;
  /** Microseconds in which it allows all its events. */
  readonly length: number;
}

export function exactRate({ events, length }: Rate): ExactRate {
  const interval = Math.max(1, Math.floor((length * 1000) / events));
  return { interval, length: interval * events };
}
