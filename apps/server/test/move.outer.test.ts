/** Moves an embedded store to PostgreSQL with the command `move`. */
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { text } from 'node:stream/consumers';

import { createReseller } from '@reseller/client';
import { postgresServer } from '@reseller/service/test/engines.ts';
import { Client } from 'pg';
import { afterAll, expect, test } from 'vitest';

import { byDepth } from '../../../.config/depth.ts';
import { serverProgram } from '../../../.config/server-program.ts';
import { newDatabase, query, SHARED } from './database.ts';
import { startCommand, startServer, temporaryDirectory } from './process.ts';

function startMove(...given: readonly string[]) {
  return startCommand(serverProgram('move'), given);
}

async function move(from: string, to: string): Promise<{ code: unknown; stdout: string; stderr: string }> {
  const child = startMove('--from', from, '--to', to);
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  return { code, stdout, stderr };
}

interface UsedStore {
  readonly directory: string;
  readonly apiKey: string;
}

let shared: UsedStore | undefined;

afterAll(() => {
  if (shared) rmSync(shared.directory, { recursive: true, force: true });
});

/** A data directory of a service that was used and then stopped: a copy for the test. */
async function usedStore(): Promise<UsedStore> {
  shared ??= await useStore(mkdtempSync(join(tmpdir(), 'used-store-')), 'SIGTERM');
  const directory = temporaryDirectory();
  cpSync(shared.directory, directory, { recursive: true });
  return { ...shared, directory };
}

/** Uses a service with this data directory, and ends it with a signal. */
async function useStore(directory: string, signal: NodeJS.Signals): Promise<UsedStore> {
  const server = await startServer({ RESELLER_DATA_DIR: directory });
  const reseller = createReseller({ baseUrl: server.baseUrl, apiKey: server.apiKey });
  for (let n = 0; n < 3; n++) await reseller.vm.create({ cores: 1, mem: 1024, disk: 10, os: 'debian_12', hostsystem: 'de_xeon' });
  const token = readFileSync(join(directory, 'operator-token'), 'utf8').trim();
  const advance = (seconds: number) =>
    fetch(`${server.operatorUrl}/sandbox/clock/advance`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ by_seconds: seconds }),
    });
  expect((await advance(40 * 86_400)).status).toBe(200);
  await server.end(signal);
  return { directory, apiKey: server.apiKey };
}

const rowsOf = async (url: string, table: string) => (await query(url, `select count(*)::int as rows from ${table}`))[0]?.['rows'];

async function responsesOf(baseUrl: string, apiKey: string): Promise<unknown> {
  const { accounting, dedicated, domain } = createReseller({ baseUrl, apiKey });
  const invoices = await accounting.invoices();
  const id = invoices[0]?.invoiceID ?? '';
  return {
    ids: invoices.map(({ invoiceID }) => invoiceID),
    totals: invoices.map(({ total, status }) => [total, status]),
    positions: (await accounting.invoice(id)).positions,
    servers: await dedicated.list(),
    domains: await domain.list(),
  };
}

test('a moved store has the same responses, keys and secrets, even after a kill', async () => {
  const { directory, apiKey } = await useStore(temporaryDirectory(), 'SIGKILL');
  const url = await newDatabase();
  const moved = await move(directory, url);
  expect({ code: moved.code, stderr: moved.stderr }).toEqual({ code: 0, stderr: '' });
  expect(moved.stdout).toMatch(/^invoices +sum of total +([1-9]\d*) +\1$/m);
  expect(moved.stdout).toMatch(/^vms +rows +4 +4$/m);
  expect(moved.stdout).toMatch(/All \d+ figures are the same on both sides/);
  // The output refers to the secrets but does not contain them.
  const secret = readFileSync(join(directory, 'secret'), 'utf8').trim();
  expect(moved.stdout).toContain(`RESELLER_SECRET=$(cat ${join(directory, 'secret')})`);
  expect(moved.stdout).not.toContain(secret);

  const embedded = await startServer({ RESELLER_DATA_DIR: directory });
  const before = await responsesOf(embedded.baseUrl, apiKey);
  const instance = await startServer({ ...SHARED, DATABASE_URL: url, RESELLER_SECRET: secret });
  expect(await responsesOf(instance.baseUrl, apiKey)).toEqual(before);
  // The log continues without a gap. Reading it numbers its entries.
  await createReseller({ baseUrl: instance.baseUrl, apiKey }).account.requests().toArray();
  const numbers = await query(url, 'select number::int from request_log order by number');
  expect(numbers.map(({ number }) => number)).toEqual(numbers.map((_, index) => index + 1));
  // A move sets the sequences of rows that it moves, the events and the feed of the log, so that later rows come after them. The rows of the two
  // others are not moved.
  const sequences = await query(url, 'select sequencename from pg_sequences order by sequencename');
  expect(sequences.map(({ sequencename }) => sequencename)).toEqual([
    'event_inbox_id_seq',
    'rdns_changes_id_seq',
    'request_log_feed',
    'request_log_inbox_id_seq',
  ]);
  // A transaction that moves an entry from the inbox takes its value of the sequence before it commits, so the two can differ for a moment.
  const isLast = 'select last_value = (select max(feed) from request_log) as is_last from request_log_feed';
  await expect.poll(() => query(url, isLast)).toEqual([{ is_last: true }]);
  await embedded.end('SIGTERM');
  expect(await move(directory, url)).toMatchObject({ code: 1, stderr: expect.stringMatching(/not empty: its table \w+ has rows/) });
});

test('refused: a running service, no store, a database that is not empty, another version, a wrong call', async () => {
  const directory = temporaryDirectory();
  const server = await startServer({ RESELLER_DATA_DIR: directory });
  const url = await newDatabase();
  expect(await move(directory, url)).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(/in use by another process/) });
  await server.end('SIGTERM');

  const empty = join(temporaryDirectory(), 'nothing');
  expect(await move(empty, url)).toMatchObject({ code: 1, stderr: expect.stringMatching(/^There is no embedded store in /) });
  expect(existsSync(empty)).toBe(false);
  mkdirSync(empty);
  expect((await move(empty, url)).code).toBe(1);

  await query(url, 'create table of_another_program (a integer)');
  const refused = await move(directory, url);
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringMatching(/not empty: it has the table public\.of_another_program/) });
  expect(await query(url, "select table_name from information_schema.tables where table_schema = 'public'")).toHaveLength(1);

  const wrong = new URL(postgresServer());
  wrong.pathname = '/no_such_database';
  expect(await move(directory, wrong.href)).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/has no database 'no_such_database'/),
  });
  expect(await move(directory, 'not a URL')).toMatchObject({ code: 1, stderr: expect.stringMatching(/is not valid/) });
  const unknown = startMove('--form', directory);
  expect([(await text(unknown.stderr)).includes('Usage:'), unknown.exitCode ?? (await once(unknown, 'exit'))[0]]).toEqual([true, 1]);

  const store = new DatabaseSync(join(directory, 'store.sqlite'));
  store.exec("insert into kysely_migration (name, timestamp) values ('9999-later', '')");
  expect((await move(directory, await newDatabase())).stderr).toMatch(/^A newer version wrote the embedded store\./);
  store.exec("delete from kysely_migration where name > '0001'");
  expect((await move(directory, await newDatabase())).stderr).toMatch(/^An older version wrote the embedded store\./);
  store.close();
});

test('a move that is killed leaves a database without tables, and can be repeated', { tags: 'deep' }, async () => {
  const { directory } = await usedStore();
  fillLog(directory, 20_000);
  const url = await newDatabase();
  const killed = startMove('--from', directory, '--to', url);
  const ended = once(killed, 'exit');
  await copying(url);
  killed.kill('SIGKILL');
  await ended;
  await expect.poll(() => query(url, "select pid from pg_stat_activity where application_name = 'reseller-move'")).toEqual([]);
  expect(await tablesOf(url)).toEqual([]);

  const { code, stdout } = await move(directory, url);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^request_log +rows +200\d\d +200\d\d$/m);
  expect(await rowsOf(url, 'request_log')).toBeGreaterThan(20_000);
});

test.each([
  ['is not a database', (file: string) => writeFileSync(file, 'not a database')],
  ['is empty', (file: string) => writeFileSync(file, '')],
  ['is cut off', (file: string) => truncateSync(file, 5_000)],
  ['is the database of another program', overwriteWithOtherDatabase],
])('a source that %s: exit code 1, and a line that names the file and the remedy', async (_, spoil) => {
  const { directory } = await usedStore();
  const file = join(directory, 'store.sqlite');
  rmSync(`${file}-wal`, { force: true });
  spoil(file);
  const url = await newDatabase();
  const { code, stdout, stderr } = await move(directory, url);
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toMatch(
    /^The file .*store\.sqlite cannot be read as the embedded store of a service \(.+\)\. Restore it from a backup, or .*\n$/,
  );
  expect(await tablesOf(url)).toEqual([]);
});

const INVALID_TEXTS = [
  ['a truncated character whose replacement has the same length', "x'41f09f9842'"],
  ['an invalid first byte', "x'41ff42'"],
  ['half of a surrogate pair', "x'eda080'"],
] as const;

test.each(byDepth({ usual: INVALID_TEXTS.slice(0, 1), deep: INVALID_TEXTS }))(
  'text with %s is an error, and the database has no table afterwards',
  async (_, bytes) => {
    const { directory } = await usedStore();
    const store = new DatabaseSync(join(directory, 'store.sqlite'));
    store.exec(`update accounts set name = cast(${bytes} as text)`);
    store.close();
    const url = await newDatabase();
    const { code, stderr } = await move(directory, url);
    expect(code).toBe(2);
    expect(stderr).toMatch(
      /^The move failed, and nothing was moved: The embedded store has a text in accounts\.name that is not valid UTF-8, .*\n$/,
    );
    expect(await tablesOf(url)).toEqual([]);
  },
);

test('moves text with any valid character unchanged', { tags: 'deep' }, async () => {
  const { directory } = await usedStore();
  const name = '\uFEFFZoë 😀 \uFFFD \u{10FFFF}';
  const store = new DatabaseSync(join(directory, 'store.sqlite'));
  store.prepare('update accounts set name = ?').run(name);
  store.close();
  const url = await newDatabase();
  expect(await move(directory, url)).toMatchObject({ code: 0, stderr: '' });
  expect(await query(url, 'select distinct name from accounts')).toEqual([{ name }]);
});

function overwriteWithOtherDatabase(file: string): void {
  rmSync(file);
  const other = new DatabaseSync(file);
  other.exec('create table notes (text)');
  other.close();
}

async function tablesOf(url: string): Promise<unknown[]> {
  return query(url, "select table_name from information_schema.tables where table_schema = 'public'");
}

/** Waits until a move copies rows of the log. */
async function copying(url: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await expect
      .poll(
        () =>
          client.query(`
            select pid from pg_stat_activity
            where application_name = 'reseller-move' and datname = current_database() and query like 'insert into "request_log"%'`),
        { interval: 5 },
      )
      .toMatchObject({ rowCount: 1 });
  } finally {
    await client.end();
  }
}

/** Adds entries to the log, so that copying them takes a while. */
function fillLog(directory: string, entries: number): void {
  const store = new DatabaseSync(join(directory, 'store.sqlite'));
  store.exec(`
    insert into request_log
      (account_id, number, position, month, request_id, date, success, endpoint, method, request_body, error_type, response_body)
    with recursive n(i) as (select 1 union all select i + 1 from n where i < ${entries})
    select account_id, newest + i, position + 300 * i, 197001, 'r' || i, 1, 1, '/domain/list', 'GET', '{}', null, '{"status":"success"}'
    from n, (select account_id, max(number) as newest, max(position) as position from request_log group by account_id limit 1)`);
  store.close();
}
