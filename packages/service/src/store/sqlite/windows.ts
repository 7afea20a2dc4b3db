import type { Windows } from '../store.ts';

/** Windows kept at the most. */
const MOST = 100_000;

/** The store belongs to this process, so its memory is where events are counted. */
export function memoryWindows(): Windows {
  const windows = new Map<string, { readonly ends: number; count: number }>();
  return {
    async count(name, length) {
      const now = performance.now();
      const known = windows.get(name);
      if (known && known.ends > now) return { count: ++known.count, endsIn: known.ends - now };
      if (windows.size >= MOST) windows.clear();
      windows.set(name, { ends: now + length, count: 1 });
      return { count: 1, endsIn: length };
    },
    async forget() {
      const now = performance.now();
      for (const [name, { ends }] of windows) if (ends <= now) windows.delete(name);
    },
  };
}
