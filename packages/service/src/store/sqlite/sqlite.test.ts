import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { expect, onTestFinished, test } from 'vitest';

import { StoreOpenError } from '../store.ts';
import { openSqliteStore } from './open.ts';

function directory(): string {
  const path = mkdtempSync(join(tmpdir(), 'store-test-'));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

async function openStore(path = directory()) {
  const store = await openSqliteStore(path);
  onTestFinished(() => store.close().catch(() => undefined));
  return store;
}

test('a number that is not a whole one is refused before it is stored', async () => {
  const store = await openStore();
  const commit = store.commit(({ db }) => db.updateTable('accounts').set({ held: 0.5 }).execute());
  await expect(commit).rejects.toThrow(/only text, bytes, null and integers/);
});

test('a directory that is in use is refused', async () => {
  const path = directory();
  await openStore(path);
  await expect(openSqliteStore(path)).rejects.toThrow(StoreOpenError);
  await expect(openSqliteStore(path)).rejects.toThrow(/is in use by another process\. Stop that process, or name another directory\.$/);
});

test('a path that cannot be a directory is refused', async () => {
  const path = directory();
  writeFileSync(join(path, 'file'), '');
  await expect(openSqliteStore(join(path, 'file', 'data'))).rejects.toThrow(
    /cannot be written to .* Make it writable, or name another one\.$/,
  );
});

test('it is durable: WAL, with every commit on the disk', async () => {
  const store = await openStore();
  const { sql } = await import('kysely');
  const value = async (name: string) =>
    (await store.commit(({ db }) => sql<Record<string, unknown>>`pragma ${sql.raw(name)}`.execute(db))).rows[0];
  expect(await value('journal_mode')).toEqual({ journal_mode: 'wal' });
  expect(await value('synchronous')).toEqual({ synchronous: 2 });
  expect(await value('integrity_check')).toEqual({ integrity_check: 'ok' });
});
