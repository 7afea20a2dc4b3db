import { mkdir, open, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';

import type { Journal, JournalEntry } from '@reseller/contract/engine';

/**
 * A journal in a file, with one line of JSON for each state of an entry. An entry is on disk before `record` returns, so that the
 * next run can undo changes after a crash.
 */
export function fileJournal(path: string): Journal {
  return {
    async record(entry) {
      await mkdir(dirname(path), { recursive: true });
      const file = await open(path, 'a+', 0o600);
      try {
        // If a crash truncated the last line, starts a new one.
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

/** Parses a line. Ignores a line that a crash truncated, because its request was not sent yet. */
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
