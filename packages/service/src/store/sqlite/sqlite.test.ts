import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { expect, onTestFinished, test } from 'vitest';

import { createAccount } from '../../provider/account.ts';
import { systemClock } from '../../ports/clock.ts';
import { simulatedHypervisor } from '../../ports/hypervisor.ts';
import { systemRandom } from '../../ports/random.ts';
import { StoreOpenError } from '../store.ts';
import { openSqliteStore } from './open.ts';

const ports = { clock: systemClock, random: systemRandom, hypervisor: simulatedHypervisor() };

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

const names = (store: Awaited<ReturnType<typeof openStore>>) =>
  store.read(async (db) => (await db.selectFrom('accounts').select('name').orderBy('name').execute()).map(({ name }) => name));

test('what is committed is there after the store was closed and opened again', async () => {
  const path = directory();
  const first = await openStore(path);
  await first.commit(({ db }) => createAccount(db, ports, { name: 'kept', creditLimit: 0n }));
  await first.close();
  expect(await names(await openStore(path))).toEqual(['kept']);
});

test('units that arrive together are committed together, and one that fails leaves the others', async () => {
  const store = await openStore();
  const results = await Promise.allSettled(
    ['a', 'b', 'c', 'd'].map((name) =>
      store.commit(async ({ db }) => {
        await createAccount(db, ports, { name, creditLimit: 0n });
        if (name === 'b') throw new Error('no');
        return name;
      }),
    ),
  );
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled']);
  expect(await names(store)).toEqual(['a', 'c', 'd']);
});

test('an attempt that fails is undone alone', async () => {
  const store = await openStore();
  await store.commit(async (transaction) => {
    await createAccount(transaction.db, ports, { name: 'before', creditLimit: 0n });
    const attempt = transaction.attempt(async () => {
      await createAccount(transaction.db, ports, { name: 'within', creditLimit: 0n });
      throw new Error('no');
    });
    await expect(attempt).rejects.toThrow('no');
    await createAccount(transaction.db, ports, { name: 'after', creditLimit: 0n });
  });
  expect(await names(store)).toEqual(['after', 'before']);
});

test('a reader never sees a unit that is not committed', async () => {
  const store = await openStore();
  await store.commit(async ({ db }) => {
    await createAccount(db, ports, { name: 'new', creditLimit: 0n });
    expect(await names(store)).toEqual([]);
  });
  expect(await names(store)).toEqual(['new']);
});

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
