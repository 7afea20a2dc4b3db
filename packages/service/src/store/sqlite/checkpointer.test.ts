import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Worker } from 'node:worker_threads';

import { expect, onTestFinished, test, vi } from 'vitest';

import { DEFAULT_TUNING } from '../tuning.ts';
import { createCheckpointer, startCheckpointThread } from './checkpointer.ts';

const MIB = 2 ** 20;
/** Maximum size of the log in bytes: 8 MiB and the largest transaction. */
const MAX_LOG = 10 * MIB;
const LENGTH = 100_000;

/** A database with a checkpointer that keeps its log short. */
function loggedDatabase(startThread = startCheckpointThread) {
  const directory = mkdtempSync(join(tmpdir(), 'checkpointer-test-'));
  const file = join(directory, 'store.sqlite');
  const connection = new DatabaseSync(file);
  connection.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; CREATE TABLE texts (text text)');
  const insert = connection.prepare(`insert into texts values (hex(zeroblob(${LENGTH / 2})))`);
  const checkpointer = createCheckpointer(connection, DEFAULT_TUNING, () => startThread(file));
  onTestFinished(async () => {
    await checkpointer.close();
    connection.close();
    rmSync(directory, { recursive: true });
  });
  return {
    file,
    connection,
    checkpointer,
    logSize: () => statSync(`${file}-wal`).size,
    async write(bytes: number) {
      for (let written = 0; written < bytes; written += LENGTH) {
        await checkpointer.makeRoom();
        insert.run();
      }
    },
  };
}

test('keeps the log short during transactions', async () => {
  const { write, logSize } = loggedDatabase();
  await write(60 * MIB);
  expect(logSize()).toBeLessThan(MAX_LOG);
});

test('lets the log grow during a backup, continues transactions, and writes it from its beginning afterwards', async () => {
  const { file, connection, write, logSize } = loggedDatabase();
  await write(LENGTH);
  const backup = new DatabaseSync(file, { readOnly: true });
  backup.exec('BEGIN');
  backup.prepare('select count(*) from texts').get();
  await write(20 * MIB);
  expect(logSize()).toBeGreaterThan(20 * MIB);
  backup.exec('COMMIT');
  backup.close();
  const state = connection.prepare('PRAGMA wal_checkpoint(NOOP)');
  await vi.waitFor(
    async () => {
      await write(LENGTH);
      expect(state.get()?.['log']).toBeLessThan(1_024);
    },
    { timeout: 300_000 },
  );
});

test('replaces a thread that fails, and continues transactions meanwhile', async () => {
  const failing = [
    "throw new Error('no')",
    'process.exit(1)',
    "require('node:worker_threads').parentPort.once('message', () => process.exit(1))",
  ];
  let started = 0;
  const { write, logSize } = loggedDatabase((file) => {
    const code = failing[started++];
    if (code === undefined) return startCheckpointThread(file);
    return new Worker(code, { eval: true }).on('error', () => {});
  });
  await write(12 * MIB);
  const length = logSize();
  await vi.waitFor(
    async () => {
      await write(LENGTH);
      expect(started).toBe(failing.length + 1);
    },
    { timeout: 300_000 },
  );
  await write(30 * MIB);
  expect(logSize()).toBeLessThan(length + 2 * MAX_LOG);
});

test('waits for the checkpoint in progress when it is closed', async () => {
  const { write, checkpointer, connection } = loggedDatabase();
  await write(5 * MIB);
  await checkpointer.close();
  expect(connection.prepare('PRAGMA integrity_check').get()).toEqual({ integrity_check: 'ok' });
});
