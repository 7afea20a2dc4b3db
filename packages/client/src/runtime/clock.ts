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
