/** The program of an installation and its commands. */
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

import * as operator from '@reseller/operator-client';
import { expect, test } from 'vitest';

import { freePorts } from '../../../.config/free-ports.ts';
import { newDatabase, query, SHARED } from './database.ts';
import { runCommand, startServer, temporaryDirectory } from './process.ts';

const TOKEN = SHARED.RESELLER_OPERATOR_TOKEN;
const ACCOUNT = '01900000-0000-7000-8000-000000000001';
const run = (environment: Readonly<Record<string, string>>, ...given: string[]) => runCommand('reseller-server', given, environment);

async function environmentOf(others: Readonly<Record<string, string>> = {}) {
  const [port = '', operatorPort = ''] = (await freePorts(2)).map(String);
  return { ...SHARED, RESELLER_DATA_DIR: temporaryDirectory(), RESELLER_PORT: port, RESELLER_OPERATOR_PORT: operatorPort, ...others };
}

test('the program lists its commands, and refuses an unknown one and none', async () => {
  const help = await run({}, '--help');
  expect(help).toMatchObject({ code: 0, stderr: '' });
  const names = [...help.stdout.matchAll(/^ {2}([a-z-]+) /gm)].map(([, name = '']) => name);
  expect(names).toEqual(['start', 'doctor', 'jobs', 'migrate', 'backup', 'restore', 'raise-tokens', 'audit', 'move', 'reseal']);
  for (const name of names.filter((one) => one !== 'start'))
    expect((await run({}, name, '--help')).stdout).toMatch(new RegExp(`^Usage: reseller-server ${name}\\b`));
  for (const [given, line] of [
    [[], 'The command is missing.'],
    [['stop'], "There is no command 'stop'."],
    [['toString'], "There is no command 'toString'."],
  ] as const)
    expect(await run({}, ...given)).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining(line) });
});

test('doctor is content with a new sandbox, and shows what differs from the defaults without secrets', async () => {
  const environment = await environmentOf();
  await startServer(environment);
  const { code, stdout, stderr } = await run(environment, 'doctor');
  expect([stderr, stdout.match(/^!.*/gm)]).toEqual(['', null]);
  expect(code).toBe(0);
  for (const line of [
    /^ +RESELLER_PORT +\d+$/m,
    /^ +RESELLER_SECRET +set$/m,
    /^ +mode +sandbox$/m,
    /^ +extension +on: /m,
    /^ +name servers +\S/m,
    /^ +clock of the service +\d{4}-/m,
    /^ +service +ready at http:/m,
    /^ +seller and VAT +set$/m,
    /^ +pool \S+ +\d+ of \d+ left at \S+$/m,
    /^ +queue zones +\d+ waiting, 0 failed/m,
    /^ +last backup +none/m,
  ])
    expect(stdout).toMatch(line);
  expect(stdout).toMatch(/\nNothing needs a person\.\n$/);
  expect(stdout).not.toContain(SHARED.RESELLER_SECRET);
  expect(stdout).not.toContain(TOKEN);
});

test('doctor marks what needs a person in a live service, and fails', async () => {
  const environment = await environmentOf({
    RESELLER_MODE: 'live',
    RESELLER_INFRASTRUCTURE: 'simulated',
    RESELLER_EXTENSION: 'off',
    RESELLER_PUBLIC_URL: 'https://api.example.com',
    RESELLER_PRT: '4010',
  });
  const stopped = await run(environment, 'doctor');
  expect([stopped.code, stopped.stdout]).toEqual([1, expect.stringMatching(/^! +service +The service does not respond at http:/m)]);
  await startServer(environment);
  const { code, stdout } = await run(environment, 'doctor');
  expect(code).toBe(1);
  expect(stdout.match(/^!.*/gm)).toEqual([
    expect.stringMatching(/^! +RESELLER_PRT +not a variable of the service/),
    expect.stringMatching(/^! +seller and VAT +missing: seller, vat_rates\./),
    expect.stringMatching(/^! +last backup +none\. Run reseller-server backup$/),
  ]);
  expect(stdout).toMatch(/^ +extension +off: /m);
  expect(stdout).toMatch(/\n3 lines with ! need a person\.\n$/);
  expect((await run(environment, 'backup', '--in', join(environment.RESELLER_DATA_DIR, 'backups'))).code).toBe(0);
  expect((await run(environment, 'doctor')).stdout).toMatch(/^ +last backup +0 h ago, verified, \d+ bytes, /m);
});

test('doctor names the reverse zone that the name server does not get, which belongs to no account', async () => {
  const away = { RESELLER_DNS: 'powerdns', RESELLER_POWERDNS_URL: 'http://127.0.0.1:1', RESELLER_POWERDNS_API_KEY: 'unused' };
  const environment = await environmentOf(away);
  await startServer(environment);
  const doctor = async () => (await run(environment, 'doctor')).stdout;
  await expect.poll(doctor).toMatch(/^! +queue zones +\d+ waiting, [1-9]/m);
  const database = new DatabaseSync(join(environment.RESELLER_DATA_DIR, 'store.sqlite'), { timeout: 30_000 });
  database.exec("delete from zone_changes where domain not like '%.arpa'");
  database.close();
  await expect.poll(doctor).toMatch(/^! +queue zones +\d+ waiting, [1-9]\d* failed, zone\/\S+\.arpa$/m);
});

test('jobs shows a failed job, and tries it again', async () => {
  const environment = await environmentOf();
  const server = await startServer(environment);
  // The server may be writing.
  const database = new DatabaseSync(join(environment.RESELLER_DATA_DIR, 'store.sqlite'), { timeout: 30_000 });
  database.exec("create trigger broken before insert on invoices begin select raise(abort, 'the page is damaged'); end");
  const client = operator.createClient({ baseUrl: server.operatorUrl, token: TOKEN });
  await operator.advanceClock({ client, body: { by_seconds: 40 * 86_400 } });
  const jobs = async () => (await run(environment, 'jobs')).stdout;
  await expect.poll(jobs).toMatch(new RegExp(`^period_ends +0 +1 +held up +account/${ACCOUNT} +${ACCOUNT}$`, 'm'));
  expect(await jobs()).toMatch(new RegExp(`^${ACCOUNT} +period_end +\\d+ +\\S+ +the page is damaged`, 'm'));
  database.exec('drop trigger broken');
  database.close();
  expect(await run(environment, 'jobs', 'retry', ACCOUNT)).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^These jobs run within seconds:\n/),
  });
  await expect.poll(jobs).toMatch(/^period_ends +0 +0 +on time$/m);
  expect((await run(environment, 'jobs', 'retry', ACCOUNT)).stdout).toBe('No job of this account has failed.\n');
  expect(await run(environment, 'jobs', 'retry', '01900000-0000-7000-8000-00000000ffff')).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^The service refused POST \/accounts\/\S+ with 404: There is no account/),
  });
  expect(await run(environment, 'jobs', 'repeat')).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^jobs takes nothing, or retry/),
  });
});

test('raise-tokens raises each fencing token of a store, embedded and on PostgreSQL', async () => {
  const databaseUrl = await newDatabase();
  for (const environment of [await environmentOf(), await environmentOf({ DATABASE_URL: databaseUrl })]) {
    const server = await startServer(environment);
    const purchase = new URLSearchParams({ cores: '1', mem: '1024', disk: '10', os: 'debian_12', hostsystem: 'nl_ryzen' });
    const bought = await fetch(`${server.baseUrl}/vm/create`, {
      method: 'PUT',
      headers: { 'x-service-apikey': server.apiKey },
      body: purchase,
    });
    expect(bought.status).toBe(200);
    await server.end('SIGTERM');
    const tokens = async () => {
      if ('DATABASE_URL' in environment)
        return (await query(databaseUrl, 'select token from fencing_tokens order by subject')).map(({ token }) => Number(token));
      const database = new DatabaseSync(join(environment.RESELLER_DATA_DIR, 'store.sqlite'), { readOnly: true });
      const rows = database.prepare('select token from fencing_tokens order by subject').all();
      database.close();
      return rows.map(({ token }) => Number(token));
    };
    const before = await tokens();
    expect(before.length).toBeGreaterThan(0);
    expect((await run(environment, 'raise-tokens')).stdout).toBe(
      `Raised ${before.length} fencing token${before.length === 1 ? '' : 's'} by 1000000.\n`,
    );
    expect((await run(environment, 'raise-tokens', '--by', '1')).code).toBe(0);
    expect(await tokens()).toEqual(before.map((token) => token + 1_000_001));
    for (const by of ['0', '-1', '1.5', 'x'])
      expect(await run(environment, 'raise-tokens', `--by=${by}`)).toMatchObject({
        code: 1,
        stderr: expect.stringContaining(`--by is '${by}'`),
      });
  }
});

test('backup --in names copies after their times, and keeps the newest ones and what is not a copy', async () => {
  const environment = await environmentOf();
  await (await startServer(environment)).end('SIGTERM');
  const folder = temporaryDirectory();
  const old = ['reseller-20200101T000000Z.sqlite', 'reseller-20200102T000000Z.sqlite'];
  for (const name of [...old, ...old.map((one) => `${one}.sha256`), 'notes.txt', 'reseller.sqlite']) writeFileSync(join(folder, name), '');
  const copies = () => readdirSync(folder).filter((name) => name.endsWith('Z.sqlite'));
  expect((await run(environment, 'backup', '--in', folder)).code).toBe(0);
  const [, , newest] = copies().toSorted();
  expect(newest).toMatch(/^reseller-\d{8}T\d{6}Z\.sqlite$/);
  const kept = async (keep: string) => {
    // Two copies of the same second would have the same name.
    await expect.poll(() => run(environment, 'backup', '--in', folder, '--keep', keep), { interval: 200 }).toMatchObject({ code: 0 });
    return copies().length;
  };
  expect(await kept('4')).toBe(4);
  expect(await kept('2')).toBe(2);
  expect(await kept('1')).toBe(1);
  expect(readdirSync(folder).filter((name) => !name.startsWith('reseller-'))).toEqual(['notes.txt', 'reseller.sqlite']);
  expect(readdirSync(folder)).toHaveLength(4);
  for (const keep of ['0', '-1', 'x'])
    expect(await run(environment, 'backup', '--in', folder, `--keep=${keep}`)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('--keep needs'),
    });
  expect(await run(environment, 'backup', '--in', folder, '--to', join(folder, 'x'))).toMatchObject({ code: 1 });
});
