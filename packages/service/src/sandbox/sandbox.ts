import type { OffsetClock } from './offset-clock.ts';

/** The controls of a sandbox. */
export interface Sandbox {
  /** The clock that the service uses. */
  readonly clock: OffsetClock;
  /** Runs scheduled jobs, clock advances and restores one after another. */
  exclusive<T>(work: () => Promise<T>): Promise<T>;
  /** Performs all due jobs, and waits for those of other instances. Call it in `exclusive`. */
  runAllJobs(): Promise<number>;
  /** Settles interrupted and enqueued deliveries. */
  recoverDeliveries(): Promise<void>;
  /** Re-reads the settings, so that the clock matches other instances. */
  refresh(): Promise<void>;
  /** Resolves when every live instance uses the present keys, faults and settings. */
  propagate(): Promise<void>;
}

/** Runs tasks one after another. */
export function oneAtATime(): Sandbox['exclusive'] {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const next = last.then(work);
    last = next.catch(() => undefined);
    return next;
  };
}
