import type { Logger } from 'pino';

import { failureLog } from './failure-log.ts';

const PAUSE_MS = 1_000;

/** A repeated job. */
export interface Repeated {
  /** Settles after the first run. */
  readonly firstRun: Promise<void>;
  /** Resolves when the current run has finished. */
  stop(): Promise<void>;
}

/** Runs scheduled jobs repeatedly, with a pause between runs, until it is stopped. A failed run is repeated. */
export function repeat(work: () => Promise<number>, logger: Logger): Repeated {
  const failures = failureLog(logger, 'scheduled jobs failed; they will be retried');
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;
  async function runJobs(): Promise<void> {
    try {
      const done = await work();
      if (done > 0) logger.info({ done }, 'ran scheduled jobs');
      failures.ended();
    } catch (error) {
      failures.failed(error);
    }
    if (!stopped) timer = setTimeout(() => (current = runJobs()), PAUSE_MS);
  }
  const firstRun = runJobs();
  let current = firstRun;
  return {
    firstRun,
    stop() {
      stopped = true;
      clearTimeout(timer);
      return current;
    },
  };
}
