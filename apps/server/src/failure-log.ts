import type { Logger } from 'pino';

/** How often a failure that goes on is in the log. */
const NOTE_EVERY_MS = 60_000;

/** Failures of work that is repeated every second. */
export interface FailureLog {
  failed(error: unknown, facts?: Readonly<Record<string, unknown>>): void;
  /** The work has succeeded. */
  ended(): void;
  /** Whether the last attempt failed. */
  areOpen(): boolean;
}

/** Logs the first failure in a row, one a minute after that, and the end. */
export function failureLog(logger: Logger, message: string, noteEveryMs = NOTE_EVERY_MS): FailureLog {
  let count = 0;
  let nextNote = -Infinity;
  return {
    failed(error, facts = {}) {
      count++;
      if (performance.now() < nextNote) return;
      logger.error({ err: error, failures: count, ...facts }, message);
      nextNote = performance.now() + noteEveryMs;
    },
    ended() {
      if (count > 0) logger.info({ failures: count }, `this no longer fails: ${message}`);
      count = 0;
      nextNote = -Infinity;
    },
    areOpen: () => count > 0,
  };
}
