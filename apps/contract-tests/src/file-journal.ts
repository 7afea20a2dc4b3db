import { mkdir, open, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';

import type { Journal, JournalEntry } from '@reseller/contract/engine';

/**
 * A journal in a file, one JSON line for each state of an entry. An entry is on the disk before `record` returns, so that after a
 * crash the next run knows what is left to undo.
 */
export function fileJournal(path: string): Journal {
  return {
    async record(entry) {
      await mkdir(dirname(path), { recursive: true });
      const file = await open(path, 'a+', 0o600);
      try {
        // After a line that a crash cut short, the entry must begin a line of its own.
        const { size } = await file.stat();
        const { buffer } = await file.read(Buffer.alloc(1), 0, 1, Math.max(0, size - 1));
        const start = size > 0 && buffer.toString() !== '\n' ? '\n' : '';
        await file.appendFile(`${start}${JSON.stringify(entry)}\n`);
        await file.sync();
      } finally {
        await file.close();
      }
    },
    async open() {
      const text = await readFile(path, 'utf8').catch(() => '');
      const last = new Map<string, JournalEntry>();
      for (const line of text.split('\n')) {
        const entry = readEntry(line);
        if (entry !== undefined) last.set(entry.id, entry);
      }
      return [...last.values()].filter(({ state }) => state === 'intended' || state === 'done');
    },
  };
}

/** A crash can cut the last line short: then what it said did not happen yet. */
function readEntry(line: string): JournalEntry | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isEntry(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isEntry(value: unknown): value is JournalEntry {
  return (
    typeof value === 'object' &&
    value !== null &&
    ['id', 'target', 'operation', 'state', 'at'].every((name) => typeof Reflect.get(value, name) === 'string')
  );
}
