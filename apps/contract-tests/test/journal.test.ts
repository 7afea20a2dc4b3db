/** The journal in a file, which survives a crash, and the journal in memory. Both return the same open entries. */
import { mkdtemp, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import type { JournalEntry } from '@reseller/contract/engine';
import { afterEach, beforeEach, expect, test } from 'vitest';

import { fileJournal } from '../src/file-journal.ts';
import { memoryJournal } from './memory-journal.ts';

let folder: string;
let path: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'journal-'));
  path = join(folder, 'new', 'journal.jsonl');
});
afterEach(() => rm(folder, { recursive: true }));

const STATES = ['intended', 'done', 'closed', 'stays'] as const;

function entryOf(id: string, state: JournalEntry['state'], more: Partial<JournalEntry> = {}): JournalEntry {
  return { id, target: 'http://a.test/', operation: 'createThing', state, at: '2026-11-22T05:00:00.000Z', ...more };
}

/** Each state, and each state after each other one. */
const histories = [...STATES.map((state) => [state]), ...STATES.flatMap((first) => STATES.map((second) => [first, second]))];

test('both journals keep an entry open while its last state is intended or done', async () => {
  const journals = [fileJournal(path), memoryJournal()];
  for (const journal of journals) {
    for (const [index, states] of histories.entries()) for (const state of states) await journal.record(entryOf(`e${index}`, state));
  }
  const expected = histories.flatMap((states, index) => {
    const last = states.at(-1);
    return last === 'intended' || last === 'done' ? [entryOf(`e${index}`, last)] : [];
  });
  expect(expected).toHaveLength(10);
  for (const journal of [...journals, fileJournal(path)]) expect(await journal.open()).toEqual(expected);
});

test('returns entries with any characters unchanged', async () => {
  const entry = entryOf('e', 'done', { undo: { operation: 'removeThing', path: { id: 'a\nb "ä😀\u2028' } }, made: 'id a\nb' });
  await fileJournal(path).record(entry);
  expect(await fileJournal(path).open()).toEqual([entry]);
});

test('a journal has no open entries without a file, and creates a file that only its owner can read', async () => {
  expect(await fileJournal(path).open()).toEqual([]);
  await fileJournal(path).record(entryOf('e', 'intended'));
  expect(await readFile(path, 'utf8')).toBe(`${JSON.stringify(entryOf('e', 'intended'))}\n`);
  const { mode } = await stat(path);
  if (process.platform !== 'win32') expect(mode & 0o777).toBe(0o600);
});

test('loses only the last entry when a crash truncates its line at any byte', async () => {
  const journal = fileJournal(path);
  await journal.record(entryOf('first', 'done'));
  const { length } = await readFile(path);
  await journal.record(entryOf('second', 'intended'));
  const whole = await readFile(path);
  for (let size = length; size < whole.length - 1; size++) {
    await writeFile(path, whole);
    await truncate(path, size);
    expect((await fileJournal(path).open()).map(({ id }) => id)).toEqual(['first']);
  }
});

test('keeps an entry after a truncated line', async () => {
  const journal = fileJournal(path);
  await journal.record(entryOf('first', 'done'));
  await journal.record(entryOf('second', 'done'));
  await truncate(path, (await readFile(path)).length - 5);
  await fileJournal(path).record(entryOf('third', 'done'));
  expect((await fileJournal(path).open()).map(({ id }) => id)).toEqual(['first', 'third']);
});

test.each(['null', '7', '"text"', '[]', '{}', '{"id":"e"}', '{"id":7,"target":"a","operation":"b","state":"done","at":"c"}', 'not JSON'])(
  'ignores the line %s',
  async (line) => {
    await fileJournal(path).record(entryOf('first', 'done'));
    await writeFile(path, `${line}\n${await readFile(path, 'utf8')}`);
    expect((await fileJournal(path).open()).map(({ id }) => id)).toEqual(['first']);
  },
);
