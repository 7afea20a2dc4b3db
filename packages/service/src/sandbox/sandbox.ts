import type { OffsetClock } from './offset-clock.ts';

/** What a sandbox is made to do things with. */
export interface Sandbox {
  /** The clock that the service uses. */
  readonly clock: OffsetClock;
  /** Runs work that nothing else of its kind may run beside: due work, advances, restores. */
  exclusive<T>(work: () => Promise<T>): Promise<T>;
  /** Does all that is due, and waits for what other nodes are doing of it; to be called in `exclusive`. */
  runAllJobs(): Promise<number>;
  /** Settles interrupted and enqueued deliveries. */
  recoverDeliveries(): Promise<void>;
  /** Reads what another node may have changed, the clock above all. */
  refresh(): Promise<void>;
  /** Keys, faults or settings were changed: resolves when every node that lives goes by what they are now. */
  propagate(): Promise<void>;
}

/** Runs works one after another. */
export function oneAtATime(): Sandbox['exclusive'] {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const next = last.then(work);
    last = next.catch(() => undefined);
    return next;
  };
}
