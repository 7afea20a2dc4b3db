import type { OffsetClock } from '../ports/system.ts';

/** The controls of a sandbox. */
export interface Sandbox {
  /** The clock of the service. */
  readonly clock: OffsetClock;
  /** Runs one piece of work at a time: scheduled jobs, clock advances, restores. */
  exclusive<T>(work: () => Promise<T>): Promise<T>;
  /** Performs all due jobs and waits for those that other instances perform. Must be called in `exclusive`. */
  runAllJobs(): Promise<number>;
  /** Waits for the work that runs next to the jobs. Not called in `exclusive`, because that work may take long. */
  settled(): Promise<void>;
  /** Settles interrupted and enqueued deliveries. Not called in `exclusive`, either. */
  recoverDeliveries(): Promise<void>;
  /** Reads the clock and the settings again, because another instance may have changed them. */
  refresh(): Promise<void>;
  /** Called after a change of keys, faults or settings. Resolves when every live instance uses the new values. */
  propagate(): Promise<void>;
}
