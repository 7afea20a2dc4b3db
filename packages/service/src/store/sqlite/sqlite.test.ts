import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

import { sql } from 'kysely';
import { expect, onTestFinished, test, vi } from 'vitest';

import { NO_FACTS } from '../../../test/no-facts.ts';
import type { LogEntry } from '../log-row.ts';
import { StoreOpenError, StoreUnavailableError } from '../store.ts';
import { GroupCommit } from './group-commit.ts';
import { kyselyOn, openSqliteStore } from './open.ts';

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

test('refuses a number that is not an integer', async () => {
  const store = await openStore();
  const commit = store.commit(({ db }) => db.updateTable('accounts').set({ held: 0.5 }).execute());
  await expect(commit).rejects.toThrow(/only text, bytes, null and integers/);
});

test('refuses a directory that is in use', async () => {
  const path = directory();
  await openStore(path);
  await expect(openSqliteStore(path)).rejects.toThrow(StoreOpenError);
  await expect(openSqliteStore(path)).rejects.toThrow(/is in use by another process\. Stop that process, or name another directory\.$/);
});

test('creates files that only their owner can read, and restricts existing ones', async () => {
  const path = directory();
  chmodSync(path, 0o777);
  const modes = () => new Set(readdirSync(path).map((name) => statSync(join(path, name)).mode & 0o777));
  const files = ['lock.sqlite', 'store.sqlite', 'store.sqlite-shm', 'store.sqlite-wal'];
  await openStore(path);
  expect([readdirSync(path).filter((name) => files.includes(name)), modes()]).toEqual([files, new Set([0o600])]);
  const older = directory();
  // A copied store with files that the group can read.
  for (const name of files) copyFileSync(join(path, name), join(older, name));
  for (const name of files) chmodSync(join(older, name), 0o664);
  const store = await openStore(older);
  expect(await store.read((db) => db.selectFrom('accounts').select('id').execute())).toEqual([]);
  for (const name of files) expect(statSync(join(older, name)).mode & 0o777).toBe(0o600);
});

test('keeps the directory locked against other processes after it is opened twice in one process', { tags: 'outer' }, async () => {
  const path = directory();
  await openStore(path);
  await expect(openSqliteStore(path)).rejects.toThrow(/is in use by another process/);
  const other = "const lock = new (require('node:sqlite').DatabaseSync)(process.argv[1]); lock.exec('BEGIN EXCLUSIVE')";
  const { status, stderr } = spawnSync(process.execPath, ['-e', other, join(path, 'lock.sqlite')], { encoding: 'utf8' });
  expect([status, stderr]).toEqual([1, expect.stringContaining('database is locked')]);
});

test('refuses a path that cannot be a directory', async () => {
  const path = directory();
  writeFileSync(join(path, 'file'), '');
  await expect(openSqliteStore(join(path, 'file', 'data'))).rejects.toThrow(
    /cannot be written to .* Make it writable, or name another one\.$/,
  );
});

test('SQLite is configured to survive a power loss: WAL, synced at checkpoints', async () => {
  const store = await openStore();
  const value = async (name: string) =>
    (await store.commit(({ db }) => sql<Record<string, unknown>>`pragma ${sql.raw(name)}`.execute(db))).rows[0];
  expect(await value('journal_mode')).toEqual({ journal_mode: 'wal' });
  expect(await value('synchronous')).toEqual({ synchronous: 1 });
  expect(await value('integrity_check')).toEqual({ integrity_check: 'ok' });
});

const ENTRY: LogEntry = {
  account_id: 'account',
  request_id: 'request',
  date: 0,
  success: 1,
  endpoint: '/vm/list',
  method: 'GET',
  request_body: '{}',
  error_type: null,
  response_body: '{}',
  ...NO_FACTS,
};

/** A group commit on a disk whose syncs the test completes. */
function onSlowDisk() {
  const connection = new DatabaseSync(join(directory(), 'store.sqlite'));
  connection.exec(
    `PRAGMA journal_mode = WAL;
     CREATE TABLE request_log (account_id text, number integer, position integer, month integer, request_id text, date integer, success integer,
       endpoint text, method text, request_body text, error_type text, response_body text, response_hash text,
       status integer, duration integer, key_id text, idempotency_key text, is_replay integer, bought text, feed integer);
     CREATE TABLE request_log_bodies (month integer, account_id text, hash text, body text, size integer, stored integer)`,
  );
  const syncs: PromiseWithResolvers<void>[] = [];
  const writer = new GroupCommit(connection, kyselyOn(connection), {
    sync() {
      const sync = Promise.withResolvers<void>();
      syncs.push(sync);
      return sync.promise;
    },
  });
  const durable: string[] = [];
  const commit = <T>(work: () => Promise<T>) => writer.commit(work);
  const write = (name: string) => commit(async () => name).then((text) => durable.push(text));
  const append = (name: string) => writer.appendToLog({ ...ENTRY, request_id: name }).then(() => durable.push(name));
  const storedEntries = () => connection.prepare('select count(*) as count from request_log').get()?.['count'];
  return { connection, writer, commit, syncs, durable, write, append, storedEntries };
}

const nextIteration = () => new Promise((resolve) => setTimeout(resolve));

test('resolves a transaction when the disk has confirmed it, and later ones share the next sync', async () => {
  const { connection, syncs, durable, write } = onSlowDisk();
  const first = write('first');
  await expect.poll(() => syncs.length).toBe(1);
  const later = [write('second'), write('third')];
  await expect.poll(() => connection.isTransaction).toBe(false);
  await nextIteration();
  expect([durable, syncs.length]).toEqual([[], 1]);
  syncs[0]?.resolve();
  await first;
  await expect.poll(() => syncs.length).toBe(2);
  expect(durable).toEqual(['first']);
  syncs[1]?.resolve();
  await Promise.all(later);
  expect(durable).toEqual(['first', 'second', 'third']);
});

test('entries of the request log that arrive during a sync share the next transaction', async () => {
  const { syncs, durable, append, storedEntries } = onSlowDisk();
  const first = append('first');
  await expect.poll(() => syncs.length).toBe(1);
  const later = [append('second')];
  await nextIteration();
  later.push(append('third'));
  await nextIteration();
  expect([durable, storedEntries()]).toEqual([[], 1]);
  syncs[0]?.resolve();
  await first;
  await expect.poll(() => syncs.length).toBe(2);
  expect([durable, storedEntries()]).toEqual([['first'], 3]);
  syncs[1]?.resolve();
  await Promise.all(later);
  expect(durable).toEqual(['first', 'second', 'third']);
});

test('entries of the request log that arrive in successive iterations of the event loop share one sync', async () => {
  // Otherwise, the delay could end too early on a slow machine.
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const { syncs, durable, append } = onSlowDisk();
  const all = [append('first'), append('second')];
  await new Promise((resolve) => setImmediate(resolve));
  all.push(append('third'));
  await expect.poll(() => syncs.length).toBe(1);
  syncs[0]?.resolve();
  await Promise.all(all);
  expect([durable, syncs.length]).toEqual([['first', 'second', 'third'], 1]);
});

test('an entry of the request log joins the sync that a transaction waits for', async () => {
  const { syncs, durable, append, write } = onSlowDisk();
  const first = write('first');
  await expect.poll(() => syncs.length).toBe(1);
  const second = write('second');
  await nextIteration();
  const third = append('third');
  await nextIteration();
  syncs[0]?.resolve();
  await first;
  await expect.poll(() => syncs.length).toBe(2);
  syncs[1]?.resolve();
  await Promise.all([second, third]);
  expect([durable, syncs.length]).toEqual([['first', 'second', 'third'], 2]);
});

test('rejects an entry of the request log that waits for a failing sync', async () => {
  const { writer, syncs, append } = onSlowDisk();
  const first = append('first');
  await expect.poll(() => syncs.length).toBe(1);
  const second = append('second');
  await nextIteration();
  syncs[0]?.reject(new Error('EIO'));
  await expect(first).rejects.toThrow(StoreUnavailableError);
  await expect(second).rejects.toThrow(/Check the disk, and start the service again\.$/);
  expect(syncs.length).toBe(1);
  await writer.idle();
});

test('lets other work run between long transactions, and does not delay log entries until all have ended', async () => {
  const { syncs, commit, append, durable } = onSlowDisk();
  const order: string[] = [];
  const work = (name: string) =>
    commit(async () => {
      order.push(name);
      for (const begun = performance.now(); performance.now() - begun < 10;);
      setImmediate(() => order.push(`after ${name}`));
    });
  const all = Promise.all([work('first'), work('second'), append('entry')]);
  await expect.poll(() => order).toEqual(['first', 'after first', 'second', 'after second']);
  await expect.poll(() => syncs.length).toBe(1);
  syncs[0]?.resolve();
  await expect.poll(() => syncs.length).toBe(2);
  expect(durable).toEqual(['entry']);
  syncs[1]?.resolve();
  await all;
});

test('compiles a statement with a limit once, because it has no bare parameter for which SQLite would plan it again', () => {
  const db = kyselyOn(new DatabaseSync(':memory:'));
  const accounts = db.selectFrom('accounts').select('id');
  expect(accounts.limit(2).compile()).toMatchObject({ sql: 'select "id" from "accounts" limit 2', parameters: [] });
  expect(accounts.limit(sql<number>`${3}`).compile()).toMatchObject({ sql: 'select "id" from "accounts" limit 0 + ?', parameters: [3] });
});

test('continues with the next transaction after a failing one', async () => {
  const store = await openStore();
  await expect(store.commit(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(await store.commit(async () => 'done')).toBe('done');
});

test('refuses all transactions after a failed sync until it is opened again', async () => {
  const { writer, commit, syncs, write } = onSlowDisk();
  const first = write('first');
  await expect.poll(() => syncs.length).toBe(1);
  const second = write('second');
  await nextIteration();
  syncs[0]?.reject(new Error('EIO'));
  await expect(first).rejects.toThrow(StoreUnavailableError);
  await expect(second).rejects.toThrow(/Check the disk, and start the service again\.$/);
  await expect(commit(async () => 'third')).rejects.toThrow(StoreUnavailableError);
  expect(syncs.length).toBe(1);
  await writer.idle();
});
