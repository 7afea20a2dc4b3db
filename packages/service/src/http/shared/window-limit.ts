import type { CounterKind, Windows } from '../../store/store.ts';

/** The maximum number of events with one name in a window. */
export interface WindowLimit {
  readonly max: number;
  readonly windowMs: number;
}

/**
 * Counts an event.
 *
 * @returns Whole seconds until further events are allowed, or undefined while the limit is not exceeded.
 */
export type CountEvent = (name: string, limit: WindowLimit) => Promise<number | undefined>;

/** Maximum number of full windows in the cache. */
const MAX_CACHED_WINDOWS = 10_000;

/** Counts in the store, so that a limit is exact across all instances. Full windows are cached, so that excess events cost nothing. */
export function createWindowCounter(windows: Windows, kind: CounterKind): CountEvent {
  const full = new Map<string, number>();
  return async (name, { max, windowMs }) => {
    const now = performance.now();
    const until = full.get(name);
    if (until !== undefined && until > now) return Math.ceil((until - now) / 1000);
    full.delete(name);
    const { count, endsIn } = await windows.count(kind, name, windowMs);
    if (count <= max) return undefined;
    if (full.size >= MAX_CACHED_WINDOWS) full.clear();
    full.set(name, now + endsIn);
    return Math.ceil(endsIn / 1000);
  };
}
