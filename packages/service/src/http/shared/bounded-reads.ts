/** Reads of the store whose callers do not wait for a store that is slow or away. */
import { withinTime } from '../../rules/within-time.ts';

/** The longest wait of a caller. Prometheus and load balancers give up after a few seconds. */
const MAX_WAIT_MS = 1_000;

/**
 * Shares a read: calls that arrive while one is in progress get its result, so that callers of a silent store do not pile up.
 *
 * @param maxAgeMs How old a result may be that is given again.
 * @returns The result, or undefined if the read fails or takes too long.
 */
export function boundedReads<T>(read: () => Promise<T>, maxAgeMs = 0): () => Promise<T | undefined> {
  let inProgress: Promise<T | undefined> | undefined;
  let last: { readonly value: T; readonly at: number } | undefined;

  async function readOnce(): Promise<T | undefined> {
    try {
      const value = await read();
      last = { value, at: performance.now() };
      return value;
    } catch {
      return undefined;
    } finally {
      inProgress = undefined;
    }
  }

  return async () => {
    if (last !== undefined && performance.now() - last.at < maxAgeMs) return last.value;
    return withinTime((inProgress ??= readOnce()), MAX_WAIT_MS, () => undefined);
  };
}
