import { exactRate } from '../rate.ts';
import type { CounterKind, Windows } from '../store.ts';

/**
 * The maximum number of counters of guesses. Further addresses share one counter, so that an attacker with many addresses cannot push out
 * the counters of others. Rates need no limit, because only keys have one, and only the provider issues keys.
 */
const MAX_GUESS_COUNTERS = 100_000;
const SHARED_COUNTER = 'shared';

interface Window {
  readonly ends: number;
  count: number;
}

/** Counts in memory, because the store belongs to this process. */
export function memoryWindows(maxGuessCounters = MAX_GUESS_COUNTERS): Windows {
  const kinds = new Map<CounterKind, Map<string, Window>>();
  /** When each rate allows all its events again, in microseconds. */
  const rates = new Map<string, number>();
  return {
    async take(name, rate) {
      const { interval, length } = exactRate(rate);
      const now = Math.round(performance.now() * 1000);
      const full = Math.max(rates.get(name) ?? 0, now);
      const isAllowed = full + interval - now <= length;
      if (isAllowed) rates.set(name, full + interval);
      return { isAllowed, fullIn: (full + (isAllowed ? interval : 0) - now) / 1000 };
    },
    async count(kind, name, length) {
      const now = performance.now();
      const windows = kinds.get(kind) ?? new Map<string, Window>();
      kinds.set(kind, windows);
      const known = windows.get(name);
      if (known && known.ends > now) return { count: ++known.count, endsIn: known.ends - now };
      windows.delete(name);
      deleteOldest(windows, now);
      const isFull = windows.size >= maxGuessCounters;
      const counter = isFull ? SHARED_COUNTER : name;
      const shared = windows.get(counter);
      if (shared && shared.ends > now) return { count: ++shared.count, endsIn: shared.ends - now };
      windows.set(counter, { ends: now + length, count: 1 });
      return { count: 1, endsIn: length };
    },
    async deleteExpired() {
      const now = performance.now();
      for (const [name, full] of rates) if (full <= now * 1000) rates.delete(name);
      for (const windows of kinds.values()) for (const [name, { ends }] of windows) if (ends <= now) windows.delete(name);
    },
  };
}

/** Deletes the ended windows at the front, where the oldest are. */
function deleteOldest(windows: Map<string, Window>, now: number): void {
  for (const [name, { ends }] of windows) {
    if (ends > now) return;
    windows.delete(name);
  }
}
