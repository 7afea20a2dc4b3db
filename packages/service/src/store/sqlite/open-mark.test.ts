/** The files that a killed process leaves, and changes of the files of a store by others. */
import {
  copyFileSync,
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';

import { expect, onTestFinished, test } from 'vitest';

import { newDirectory } from '../../../test/engines.ts';
import { createAccount } from '../../core/account/account.ts';
import { systemClock } from '../../ports/system.ts';
import { systemRandom } from '../../ports/system.ts';
import type { Store, StoreUnavailableError } from '../store.ts';
import { backUpSqliteStore } from './backup.ts';
import { openSqliteStore } from './open.ts';

const LOG = 'store.sqlite-wal';
const MARK = 'store.open';

const ports = { clock: systemClock, random: systemRandom };
const create = (store: Store, name: string) => store.commit(({ db }) => createAccount(db, ports, { name, creditLimit: 0n }));
const count = (store: Store) => store.read(async (db) => (await db.selectFrom('accounts').select('id').execute()).length);

async function open(directory: string): Promise<Store> {
  const store = await openSqliteStore(directory);
  onTestFinished(() => store.close());
  return store;
}

/** The files of a process that was killed after some accounts were created. Each has a page and more. */
async function killed(accounts: number): Promise<string> {
  const directory = newDirectory();
  const store = await open(directory);
  for (let number = 0; number < accounts; number++) await create(store, `account ${number} `.padEnd(3_000, 'x'));
  const left = newDirectory();
  cpSync(directory, left, { recursive: true });
  return left;
}

test('a store that was closed leaves one file, and neither a log nor a mark', async () => {
  const directory = newDirectory();
  const store = await openSqliteStore(directory);
  await create(store, 'one');
  await store.close();
  expect(readdirSync(directory).toSorted()).toEqual(['lock.sqlite', 'store.sqlite']);
});

test('a killed process leaves all its transactions, again and again', async () => {
  let directory = await killed(3);
  for (let round = 0; round < 3; round++) {
    const store = await open(directory);
    expect(await count(store)).toBe(3 + round);
    await create(store, `after ${round}`);
    const left = newDirectory();
    cpSync(directory, left, { recursive: true });
    directory = left;
  }
});

test('a store without the log of a killed process is refused, until the operator says to continue without', async () => {
  const directory = await killed(3);
  rmSync(join(directory, LOG));
  await expect(open(directory)).rejects.toMatchObject({
    name: 'StoreOpenError',
    message: expect.stringMatching(/store\.sqlite-wal is missing, which/),
  });
  rmSync(join(directory, MARK));
  expect(await count(await open(directory))).toBe(0);
});

test('a store that is missing after a process was killed is refused', async () => {
  const directory = await killed(1);
  rmSync(join(directory, 'store.sqlite'));
  await expect(open(directory)).rejects.toThrow(/store\.sqlite is missing/);
  expect(existsSync(join(directory, 'store.sqlite'))).toBe(false);
});

test.each(['a backup', 'the store of another service'])('the log of a killed process is not applied to %s', async (other) => {
  const directory = await killed(3);
  const replacement = join(newDirectory(), 'backup.sqlite');
  if (other === 'a backup') backUpSqliteStore({ from: directory, to: replacement });
  else copyFileSync(join(await killed(1), 'store.sqlite'), replacement);
  copyFileSync(replacement, join(directory, 'store.sqlite'));
  await expect(open(directory)).rejects.toThrow(/store\.sqlite was replaced since, while .*store\.sqlite-wal belongs to the store before/);
  // As the message says.
  for (const name of [LOG, MARK]) rmSync(join(directory, name));
  expect(await count(await open(directory))).toBe(other === 'a backup' ? 3 : 0);
});

const FRAME_BYTES = 24 + 4_096;

test('a log that is damaged before what the last syncs confirmed is refused', async () => {
  const directory = await killed(100);
  const log = readFileSync(join(directory, LOG));
  expect(log.length).toBeGreaterThan(1_500_000);
  expect(log.length).toBeLessThan(4_000_000);
  for (const at of [0, 8, 17, 31, 32, 40, 50, 60, 1_000, FRAME_BYTES * 7 + 33, log.length - 1_048_576 - 3 * FRAME_BYTES]) {
    const damaged = Buffer.from(log);
    damaged[at] = (damaged[at] ?? 0) ^ 1;
    writeFileSync(join(directory, LOG), damaged);
    const outcome = await open(directory).then(
      () => 'opened',
      (error: unknown) => String(error),
    );
    expect([at, outcome]).toEqual([at, expect.stringContaining('store.sqlite-wal is damaged')]);
  }
  writeFileSync(join(directory, LOG), log);
  expect(await count(await open(directory))).toBe(100);
});

test('a log whose end was cut off or left out by a power failure is accepted', async () => {
  const source = await killed(40);
  const { size } = statSync(join(source, LOG));
  for (const length of [0, 1, 31, 32, 33, FRAME_BYTES, size - FRAME_BYTES, size - 1]) {
    const directory = newDirectory();
    cpSync(source, directory, { recursive: true });
    truncateSync(join(directory, LOG), length);
    expect(await count(await open(directory))).toBeLessThan(40);
  }
});

test.each(['removed', 'replaced'])('a store whose file is %s while it is open confirms nothing more', async (what) => {
  const directory = newDirectory();
  const failures: StoreUnavailableError[] = [];
  const store = await openSqliteStore(directory, { onFailedSync: (error) => void failures.push(error) });
  await create(store, 'one');
  const file = join(directory, 'store.sqlite');
  const backup = join(newDirectory(), 'backup.sqlite');
  backUpSqliteStore({ from: directory, to: backup });
  if (what === 'replaced') renameSync(backup, file);
  else rmSync(directory, { recursive: true });
  await expect(create(store, 'two')).rejects.toMatchObject({
    name: 'StoreUnavailableError',
    message: expect.stringContaining(`The file ${file} was removed or replaced while the service used it`),
  });
  await expect(create(store, 'three')).rejects.toThrow('was removed or replaced');
  expect(failures).toHaveLength(1);
  await store.close();
});

test('a store that is overwritten ends the start with advice', async () => {
  const directory = newDirectory();
  await (await openSqliteStore(directory)).close();
  const file = join(directory, 'store.sqlite');
  const content = readFileSync(file);
  content.fill(0xa5, 0, 4_096);
  writeFileSync(file, content);
  await expect(open(directory)).rejects.toMatchObject({
    name: 'StoreOpenError',
    message: expect.stringMatching(
      /^The store in .* is damaged \(file is not a database\)\. Keep a copy of the directory, and restore the newest backup/,
    ),
  });
});
