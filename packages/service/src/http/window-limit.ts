import type { Windows } from '../store/store.ts';

/** How many of something there may be in what time. */
export interface WindowLimit {
  readonly most: number;
  /** Milliseconds. */
  readonly within: number;
}

/**
 * Counts one more of what a name stands for.
 *
 * @returns Whole seconds until there may be more; undefined while the limit is kept.
 */
export type CountOne = (name: string, limit: WindowLimit) => Promise<number | undefined>;

/** Full windows remembered at the most. */
const MOST_REMEMBERED = 10_000;

/**
 * Exact over all nodes: each one is counted where they all count. A window that is known to be full
 * is not asked for again, so whoever goes on costs nothing.
 */
export function windowLimits(windows: Windows): CountOne {
  const full = new Map<string, number>();
  return async (name, { most, within }) => {
    const now = performance.now();
    const until = full.get(name);
    if (until !== undefined && until > now) return Math.ceil((until - now) / 1000);
    full.delete(name);
    const { count, endsIn } = await windows.count(name, within);
    if (count <= most) return undefined;
    if (full.size >= MOST_REMEMBERED) full.clear();
    full.set(name, now + endsIn);
    return Math.ceil(endsIn / 1000);
  };
}
