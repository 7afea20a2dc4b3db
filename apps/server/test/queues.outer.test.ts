/** What only the process knows is in the list of queues, and a store that is away delays no scrape. */
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import * as operator from '@reseller/operator-client';
import { expect, test, vi } from 'vitest';

import { newDatabase, query, SHARED } from './database.ts';
import { ownPostgres } from './faults/own-postgres.ts';
import { proxyTo } from './faults/proxy.ts';
import { runCommand, startServer, temporaryDirectory } from './process.ts';
import type { Server } from './process.ts';

const TOKEN = SHARED.RESELLER_OPERATOR_TOKEN;
const LIVE = {
  ...SHARED,
  RESELLER_MODE: 'live',
  RESELLER_INFRASTRUCTURE: 'simulated',
  RESELLER_EXTENSION: 'on',
  RESELLER_PUBLIC_URL: 'https://api.example.com',
};

async function queueOf({ operatorUrl }: Server, name: operator.WorkQueue['queue']) {
  const { queues } = await operator.getDueWork({ client: operator.createClient({ baseUrl: operatorUrl, token: TOKEN }) });
  return queues.find(({ queue }) => queue === name);
}

test('a silent database delays no scrape, makes the instance unready, and repeats no stack in the log', async () => {
  const proxy = await proxyTo(await newDatabase());
  const server = await startServer({ ...SHARED, DATABASE_URL: proxy.url });
  const scrape = async () => {
    const begun = performance.now();
    const response = await fetch(`${server.operatorUrl}/metrics`, { headers: { authorization: `Bearer ${TOKEN}` } });
    return { text: await response.text(), milliseconds: performance.now() - begun };
  };
  // On a busy machine, the database does not respond in time at once.
  await vi.waitFor(async () => expect((await scrape()).text).toMatch(/^reseller_ready 1$/m), { timeout: 300_000, interval: 200 });
  proxy.swallow();
  // The service remembers for a moment that it was ready.
  await vi.waitFor(
    async () => {
      const { text, milliseconds } = await scrape();
      // The bound is a second. The rest is for a busy machine.
      expect(milliseconds).toBeLessThan(5_000);
      expect(text).toMatch(/^reseller_ready 0$/m);
      expect(text).not.toMatch(/^reseller_queue_waiting\{/m);
    },
    { timeout: 300_000, interval: 100 },
  );
  await vi.waitFor(() => expect(server.logged().match(/"failures":/g)?.length).toBeGreaterThan(0), { timeout: 300_000, interval: 100 });
  await proxy.mend();
  await vi.waitFor(async () => expect((await scrape()).text).toMatch(/^reseller_ready 1$/m), { timeout: 300_000, interval: 200 });
  const stacks = server
    .logged()
    .split('\n')
    .flatMap((line) => (line.startsWith('{') ? [String(JSON.parse(line).err?.stack ?? '').replaceAll(/^(?! +at ).*$/gm, '')] : []))
    .filter((stack) => stack.includes(' at '));
  expect(stacks.length).toBeGreaterThan(0);
  expect(new Set(stacks).size).toBe(stacks.length);
});

test('the export of the audit is a queue, which fails while its file cannot be written, and goes on after a rotation of logs', async () => {
  const directory = temporaryDirectory();
  const file = join(directory, 'logs/audit.jsonl');
  mkdirSync(join(directory, 'logs'));
  const environment = { ...SHARED, RESELLER_DATA_DIR: join(directory, 'data'), RESELLER_AUDIT_FILE: file };
  const sequence = () =>
    readFileSync(file, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).seq);
  const server = await startServer(environment);
  const client = operator.createClient({ baseUrl: server.operatorUrl, token: TOKEN });
  const create = (name: string) => operator.createAccount({ client, body: { name, credit_limit: '1.00' } });
  const quiet = { queue: 'audit_export', waiting: 0, failed: 0, oldest_seconds: null, oldest: null, is_held_up: false };
  await create('one');
  await expect.poll(() => queueOf(server, 'audit_export')).toEqual(quiet);
  renameSync(join(directory, 'logs'), join(directory, 'moved'));
  await create('two');
  await expect.poll(() => queueOf(server, 'audit_export')).toMatchObject({ waiting: 1, failed: 1, is_held_up: true });
  renameSync(join(directory, 'moved'), join(directory, 'logs'));
  await expect.poll(() => queueOf(server, 'audit_export')).toEqual(quiet);
  expect(sequence()).toEqual([1, 2]);
  await server.end('SIGTERM');
  renameSync(file, `${file}.1`);
  const second = await startServer(environment);
  await operator.createAccount({
    client: operator.createClient({ baseUrl: second.operatorUrl, token: TOKEN }),
    body: { name: 'three', credit_limit: '1.00' },
  });
  await second.end('SIGTERM');
  expect(sequence()).toEqual([3]);
});

test('without its position, the export begins with the first record again, so that none is left out', async () => {
  const directory = temporaryDirectory();
  const file = join(directory, 'audit.jsonl');
  const environment = { ...SHARED, RESELLER_DATA_DIR: join(directory, 'data'), RESELLER_AUDIT_FILE: file };
  const server = await startServer(environment);
  const client = operator.createClient({ baseUrl: server.operatorUrl, token: TOKEN });
  await operator.createAccount({ client, body: { name: 'one', credit_limit: '1.00' } });
  await server.end('SIGTERM');
  const lines = readFileSync(file, 'utf8');
  rmSync(file);
  rmSync(`${file}.position`);
  await (await startServer(environment)).end('SIGTERM');
  expect(readFileSync(file, 'utf8')).toBe(lines);
});

test('a live service waits for a backup of its store a day after the last one, and is degraded an hour later', async () => {
  const directory = temporaryDirectory();
  const environment = { ...LIVE, RESELLER_DATA_DIR: directory };
  const server = await startServer(environment);
  const note = (hours: number) =>
    writeFileSync(join(directory, 'last-backup.json'), JSON.stringify({ time: Date.now() - hours * 3_600_000, file: 'x', bytes: 1 }));
  const state = async () => {
    const { waiting, is_held_up } = (await queueOf(server, 'store_backups')) ?? {};
    return [waiting, is_held_up];
  };
  expect(await state()).toEqual([0, false]);
  for (const [hours, expected] of [
    [1, [0, false]],
    [23.9, [0, false]],
    [24.1, [1, false]],
    [25.1, [1, true]],
  ] as const) {
    note(hours);
    expect(await state()).toEqual(expected);
  }
  expect((await runCommand('backup', ['--to', join(directory, 'backup.sqlite')], environment)).code).toBe(0);
  expect(await state()).toEqual([0, false]);
  await server.end('SIGTERM');
});

test('on PostgreSQL, the archiver counts as the backup: a failure shows, and a server that lost its statistics makes none due', async () => {
  const database = await ownPostgres();
  const set = (name: string, value: string) => query(database.url, `alter system set ${name} = '${value}'`);
  await set('archive_mode', 'on');
  await set('archive_command', '/bin/true');
  // Only a start turns the archiver on. A server that was killed begins new statistics.
  await database.crash();
  await database.start();
  const server = await startServer({ ...LIVE, DATABASE_URL: database.url });
  const state = () => queueOf(server, 'store_backups');
  const quiet = { queue: 'store_backups', waiting: 0, failed: 0, oldest_seconds: null, oldest: null, is_held_up: false };
  expect(await state()).toEqual(quiet);
  await set('archive_command', '/bin/false');
  await query(database.url, 'select pg_reload_conf()');
  await query(database.url, 'select pg_switch_wal()');
  await expect.poll(state).toEqual({ ...quiet, failed: 1, is_held_up: true });
  await set('archive_command', '/bin/true');
  await query(database.url, 'select pg_reload_conf()');
  await expect.poll(state).toEqual(quiet);
  await server.end('SIGTERM');
});
