import type { Journal, JournalEntry } from '@reseller/contract/engine';

/** A journal in memory, for services whose state ends with the process, such as those of the selftest. */
export function memoryJournal(): Journal {
  const entries = new Map<string, JournalEntry>();
  return {
    async record(entry) {
      entries.set(entry.id, entry);
    },
    async open() {
      return [...entries.values()].filter(({ state }) => state === 'intended' || state === 'done');
    },
  };
}
