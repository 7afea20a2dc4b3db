import type { Windows } from '../store.ts';

/** Beyond this all counts start again, so that memory stays bounded. */
const MAX_WINDOWS = 100_000;

/** Counts in memory, because the store belongs to this process. */
export function memoryWindows(): Windows {
  const windows = new Map<string, { readonly ends: number; count: number }>();
  return {
    async count(name, length) {
      const now = performance.now();
      const known = windows.get(name);
      if (known && known.ends > now) return { count: ++known.count, endsIn: known.ends - now };
      if (windows.size >= MAX_WINDOWS) windows.clear();
      windows.set(name, { ends: now + length, count: 1 });
      return { count: 1, endsIn: length };
    },
    async deleteExpired() {
      const now = performance.now();
      for (const [name, { ends }] of windows) if (ends <= now) windows.delete(name);
    },
  };
}
