import { once } from 'node:events';

import { createReseller } from '@reseller/client';
import { openPostgresStore } from '@reseller/service';
import { postgresServer } from '@reseller/service/test/engines.ts';
import { expect, test, vi } from 'vitest';

import { serverProgram } from '../../../.config/server-program.ts';
import { openStoreWhenReachable } from '../src/open-store.ts';
import { newDatabase, query, SHARED, withPath } from './database.ts';
import { proxyTo } from './faults/proxy.ts';
import { runServer, SAMPLE_VM, startCommand, startServer, temporaryDirectory } from './process.ts';

test('with DATABASE_URL all data is in the database, also after a restart', async () => {
  const environment = { ...SHARED, DATABASE_URL: await newDatabase(), RESELLER_DATA_DIR: '/nowhere' };
  const first = await startServer(environment);
  expect(first.welcome).toMatch(/Data +PostgreSQL database test_\w+ at \S+\n/);
  const { password } = new URL(environment.DATABASE_URL);
  expect(first.welcome).not.toContain(`${password}@`);
  const bought = await createReseller({ baseUrl: first.baseUrl, apiKey: first.apiKey }).vm.create({
    cores: 1,
    mem: 1024,
    disk: 10,
    os: 'debian_12',
    hostsystem: 'de_xeon',
  });
  expect(await first.end('SIGINT')).toBe(0);
  const second = await startServer(environment);
  expect(second.apiKey).toBe(first.apiKey);
  const invoice = await createReseller({ baseUrl: second.baseUrl, apiKey: second.apiKey }).accounting.currentInvoice();
  expect(Object.keys(invoice.positions.vms).map(Number).toSorted()).toEqual([bought.identifier, SAMPLE_VM].toSorted());
});

test('four instances that start concurrently on an empty database share one sandbox and one demo key', { tags: 'deep' }, async () => {
  const url = await newDatabase();
  const instances = await Promise.all(Array.from({ length: 4 }, () => startServer({ ...SHARED, DATABASE_URL: url })));
  for (const { baseUrl, apiKey } of instances) {
    expect(apiKey).toBe(instances[0]?.apiKey);
    expect((await fetch(`${baseUrl}/domain/list`, { headers: { 'x-service-apikey': apiKey } })).status).toBe(200);
  }
  expect(await query(url, 'select name from accounts')).toEqual([{ name: 'Demo reseller' }]);
  expect(await query(url, 'select label from api_keys order by label collate "C"')).toEqual([{ label: 'Sample' }, { label: 'demo' }]);
  expect(await query(url, "select state from dedicated_servers where state != 'offered' order by state")).toEqual([
    { state: 'deployed' },
    { state: 'deployed' },
    { state: 'ordered' },
  ]);
});

test('refuses an instance with another secret or another mode', { tags: 'deep' }, async () => {
  const environment = { ...SHARED, DATABASE_URL: await newDatabase() };
  await startServer(environment);
  const secret = 'another secret, which is long enough as well';
  const refused = await runServer({ ...environment, RESELLER_SECRET: secret });
  expect(refused).toMatchObject({ code: 1, stdout: '' });
  expect(refused.stderr).toMatch(/^The secret of this service is not the one .* Set RESELLER_SECRET to that one\. .*\n$/);
  expect(refused.stderr).not.toContain(secret);
  const live = await runServer({
    ...environment,
    RESELLER_MODE: 'live',
    RESELLER_INFRASTRUCTURE: 'simulated',
    RESELLER_EXTENSION: 'on',
    RESELLER_PUBLIC_URL: 'https://api.example.com',
  });
  expect(live.stderr).toMatch(/^The store belongs to a sandbox service, and this one is live\. Set RESELLER_MODE to sandbox, .*\n$/);
});

test('refuses a data directory without its secret', async () => {
  const RESELLER_DATA_DIR = temporaryDirectory();
  const first = await startServer({ RESELLER_DATA_DIR });
  await first.end('SIGTERM');
  const refused = await runServer({ RESELLER_DATA_DIR, RESELLER_SECRET: 'another secret, which is long enough as well' });
  expect(refused.stderr).toMatch(/^The secret of this service is not the one /);
});

test.each(['reseller', 'mysql://user:pass-word@127.0.0.1/reseller', 'postgres://user:pass-word@127.0.0.1', 'postgres:///reseller'])(
  'DATABASE_URL=%s: one clear line and exit code 1',
  async (DATABASE_URL) => {
    const { code, stdout, stderr } = await runServer({ ...SHARED, DATABASE_URL });
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/^DATABASE_URL is not a connection string .* Set it to one, such as postgres:.*\n$/);
    expect(stderr).not.toContain('pass-word');
  },
);

test.each(['RESELLER_SECRET', 'RESELLER_OPERATOR_TOKEN'])('DATABASE_URL without %s: one clear line and exit code 1', async (missing) => {
  const { code, stderr } = await runServer({ ...SHARED, DATABASE_URL: postgresServer(), [missing]: '' });
  expect(code).toBe(1);
  expect(stderr).toMatch(new RegExp(`^${missing} is missing\\. .* Set it to .*, the same on each instance\\.\\n$`));
});

test('the start waits for a database that cannot be reached, says so once, and serves when the database is there', async () => {
  const proxy = await proxyTo(await newDatabase());
  await proxy.cut();
  const server = await startServer({ ...SHARED, DATABASE_URL: proxy.url }, undefined, async (logged) => {
    await vi.waitFor(() => expect(logged()).not.toBe(''), { timeout: 300_000, interval: 50 });
    await proxy.mend();
  });
  const [line = ''] = server.logged().split('\n');
  expect(line).toMatch(
    /^The database server of DATABASE_URL cannot be reached at 127\.0\.0\.1:\d+ \(ECONNREFUSED\)\. Start it, or correct host and port\. The service waits for it, and tries again every second\.$/,
  );
  expect(server.logged()).not.toContain(`\n${line}`);
  expect((await fetch(`${server.baseUrl}/readyz`)).status).toBe(200);
});

test('a start that waits for its database ends at once on SIGTERM', async () => {
  const child = startCommand(serverProgram(), [], { ...SHARED, DATABASE_URL: 'postgres://nobody@127.0.0.1:1/reseller' });
  const [line] = await once(child.stderr, 'data');
  expect(String(line)).toContain('The service waits for it');
  child.kill('SIGTERM');
  expect(await once(child, 'exit')).toEqual([null, 'SIGTERM']);
});

test.each([
  { noteEveryMs: 0, expected: 3 },
  { noteEveryMs: 1, expected: 3 },
  { noteEveryMs: 3_600_000, expected: 1 },
])('a wait of three attempts, with a note every $noteEveryMs ms at most: $expected', async ({ noteEveryMs, expected }) => {
  const notes: string[] = [];
  let attempts = 0;
  const opened = await openStoreWhenReachable(
    async () => {
      attempts++;
      return attempts > 3 ? 'opened' : openPostgresStore('postgres://nobody@127.0.0.1:1/reseller');
    },
    { pauseMs: 2, noteEveryMs, note: (line) => void notes.push(line) },
  );
  expect([opened, attempts, notes.length]).toEqual(['opened', 4, expected]);
});

test('a wrong password and an unknown database end the start: one clear line each, without the password', async () => {
  const server = postgresServer();
  const line = async (url: string) => {
    const { code, stdout, stderr } = await runServer({ ...SHARED, DATABASE_URL: url });
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).not.toContain('wrong-pass-word');
    return stderr;
  };
  const wrong = new URL(server);
  wrong.password = 'wrong-pass-word';
  expect(await line(wrong.href)).toMatch(
    /^The database server at \S+ rejects the user '\w+'\. Correct user and password in DATABASE_URL\.\n$/,
  );
  expect(await line(withPath(server, 'no_such_database'))).toMatch(
    /^The database server at \S+ has no database 'no_such_database'\. Create it .*, or correct DATABASE_URL\.\n$/,
  );
});
