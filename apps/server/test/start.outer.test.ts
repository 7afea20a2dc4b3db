import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';

import { createReseller } from '@reseller/client';
import { contentSecurityPolicy } from '@reseller/docs';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';

import { freePort, freePorts } from '../../../.config/free-ports.ts';
import { serverProgram } from '../../../.config/server-program.ts';
import { newDatabase, SHARED } from './database.ts';
import { INHERITED, runCommand, runServer, SAMPLE_VM, SOURCE, startServer, startSharedServer, temporaryDirectory } from './process.ts';
import type { Server } from './process.ts';

test('the printed command buys a VM, and all data is there after a restart', async () => {
  const directory = temporaryDirectory();
  const first = await startServer({ RESELLER_DATA_DIR: directory }, SOURCE);
  const line = first.welcome.trim().split('\n').at(-1) ?? '';
  const { stdout } = await promisify(execFile)('/bin/sh', ['-c', `${line} --silent`]);
  const bought = JSON.parse(stdout);
  expect(bought).toMatchObject({ status: 'success', data: { config: { cores: 2 } } });
  expect(await first.end('SIGINT')).toBe(0);

  const second = await startServer({ RESELLER_DATA_DIR: directory });
  expect(second.apiKey).toBe(first.apiKey);
  const { accounting, account } = createReseller({ baseUrl: second.baseUrl, apiKey: second.apiKey });
  const invoice = await accounting.currentInvoice();
  expect(Object.keys(invoice.positions.vms).map(Number).toSorted()).toEqual([bought.data.identifier, SAMPLE_VM].toSorted());
  const log = await account.requests();
  expect(log.map(({ endpoint }) => endpoint)).toEqual(['/accounting/invoices/current', '/vm/create']);
  expect(await second.end('SIGTERM')).toBe(0);
});

test('a service that is ready has printed its key', async () => {
  const printed = join(temporaryDirectory(), 'service.log');
  const [port = 0, operatorPort = 0] = await freePorts(2);
  const output = openSync(printed, 'w');
  const server = spawn(process.execPath, [serverProgram()], {
    env: {
      ...INHERITED,
      ...SHARED,
      DATABASE_URL: await newDatabase(),
      RESELLER_PORT: String(port),
      RESELLER_OPERATOR_PORT: String(operatorPort),
    },
    stdio: ['ignore', output, 'inherit'],
  });
  onTestFinished(() => void server.kill('SIGKILL'));
  closeSync(output);
  const isReady = () =>
    fetch(`http://127.0.0.1:${operatorPort}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
  while (!(await isReady())) continue;
  expect(readFileSync(printed, 'utf8')).toMatch(/^ +API key +\S+$/m);
});

test('a sandbox with delays shows an installation while it lasts, also after a restart', { tags: 'deep' }, async () => {
  const settings = { RESELLER_DATA_DIR: temporaryDirectory(), RESELLER_SANDBOX_DELAYS: 'install=1h' };
  const first = await startServer(settings);
  const { baseUrl, apiKey } = first;
  const { identifier } = await createReseller({ baseUrl, apiKey }).vm.create({
    cores: 1,
    mem: 1024,
    disk: 10,
    os: 'debian_12',
    hostsystem: 'de_xeon',
  });
  await first.end('SIGKILL');
  const second = await startServer(settings);
  async function installation() {
    const response = await fetch(`${second.baseUrl}/vm/${identifier}/status/installation`, { headers: { 'x-service-apikey': apiKey } });
    const body: { data: unknown } = JSON.parse(await response.text());
    return body.data;
  }
  expect(await installation()).toMatchObject({ status: 'pending', progress: { percentage: expect.any(Number) } });
  const advanced = await fetch(`${second.operatorUrl}/sandbox/clock/advance`, {
    method: 'POST',
    headers: { authorization: `Bearer ${/Operator token\s+(\S+)/.exec(first.welcome)?.[1]}`, 'content-type': 'application/json' },
    body: JSON.stringify({ by_seconds: 3_600 }),
  });
  expect(advanced.status).toBe(200);
  expect(await installation()).toEqual({ status: 'finished', progress: null });
});

test.each([
  { RESELLER_HYPERVISOR: 'qemu' },
  {
    RESELLER_MODE: 'live',
    RESELLER_INFRASTRUCTURE: 'simulated',
    RESELLER_EXTENSION: 'on',
    RESELLER_PUBLIC_URL: 'https://api.example.com',
    RESELLER_OPERATOR_TOKEN: 'x'.repeat(32),
  },
])('refuses delays of what is not a simulation: %o', async (given) => {
  const { code, stderr } = await runServer({ RESELLER_DATA_DIR: temporaryDirectory(), RESELLER_SANDBOX_DELAYS: 'install=20s', ...given });
  expect([code, stderr]).toEqual([1, expect.stringMatching(/^RESELLER_SANDBOX_DELAYS is 'install=20s', but .* Set it to nothing, .*\n$/)]);
});

test('a service whose data folder is removed confirms nothing more and ends, so that its supervisor notices', async () => {
  const directory = join(temporaryDirectory(), 'data');
  const server = await startServer({ RESELLER_DATA_DIR: directory });
  rmSync(directory, { recursive: true });
  const ended = once(server.process, 'exit');
  const bought = await fetch(`${server.baseUrl}/account/otp`, { method: 'POST', headers: { 'x-service-apikey': server.apiKey } }).then(
    ({ status }) => status,
    () => 'no response',
  );
  expect([503, 'no response']).toContain(bought);
  expect((await ended)[0]).toBe(1);
  expect(server.logged()).toMatch(
    /The file .*store\.sqlite was removed or replaced while the service used it, so nothing more can be stored\./,
  );
});

test('the effect of a request with a response survives a kill', { tags: 'deep' }, async () => {
  const directory = temporaryDirectory();
  const first = await startServer({ RESELLER_DATA_DIR: directory });
  const buy = () =>
    fetch(`${first.baseUrl}/vm/create`, {
      method: 'PUT',
      headers: { 'x-service-apikey': first.apiKey },
      body: new URLSearchParams({ cores: '1', mem: '1024', disk: '10', os: 'debian_12', hostsystem: 'de_xeon' }),
    }).then(async (response): Promise<number> => JSON.parse(await response.text()).data.identifier);
  const identifiers = await Promise.all(Array.from({ length: 30 }, buy));
  await first.end('SIGKILL');

  const second = await startServer({ RESELLER_DATA_DIR: directory });
  const { accounting } = createReseller({ baseUrl: second.baseUrl, apiKey: second.apiKey });
  const invoice = await accounting.currentInvoice();
  expect(Object.keys(invoice.positions.vms).map(Number).toSorted()).toEqual([...identifiers, SAMPLE_VM].toSorted());
});

describe('a sandbox that listens on all addresses', () => {
  let directory: string;
  let server: Server;

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'read-server-'));
    server = await startSharedServer({ RESELLER_DATA_DIR: directory, RESELLER_HOST: '0.0.0.0' });
    return async () => {
      await server.end('SIGKILL');
      rmSync(directory, { recursive: true });
    };
  });

  test('serves metrics to the operator, and probes to everyone', async () => {
    const token = /Operator token\s+(\S+)/.exec(server.welcome)?.[1] ?? '';
    expect((await fetch(`${server.operatorUrl}/metrics`)).status).toBe(401);
    const metrics = await fetch(`${server.operatorUrl}/metrics`, { headers: { authorization: `Bearer ${token}` } });
    expect(await metrics.text()).toContain('reseller_request_duration_seconds');
    expect((await fetch(`${server.operatorUrl}/readyz`)).status).toBe(200);
    expect((await fetch(`${server.baseUrl}/readyz`)).status).toBe(200);
  });

  test('keeps the operator API on 127.0.0.1', async () => {
    expect(await listens('127.0.0.2', server.baseUrl)).toBe(true);
    expect(await listens('127.0.0.1', server.operatorUrl)).toBe(true);
    expect(await listens('127.0.0.2', server.operatorUrl)).toBe(false);
  });

  test('refuses a second process with its data directory: one clear line and exit code 1', async () => {
    const { code, stderr } = await runServer({ RESELLER_DATA_DIR: directory });
    expect(code).toBe(1);
    expect(stderr).toMatch(/is in use by another process\. Stop that process, or name another directory\.\n$/);
  });

  test('serves the documentation: the root of both ports and /docs redirect a browser to it, and a program gets its address', async () => {
    const { baseUrl, operatorUrl } = server;
    for (const [url, page, title] of [
      [baseUrl, `${baseUrl}/docs/`, 'Reseller Infrastructure Service API'],
      [operatorUrl, `${baseUrl}/docs/operator/`, 'Operator API'],
    ] as const) {
      const opened = await fetch(url, { headers: { accept: 'text/html,application/xhtml+xml;q=0.9,*/*;q=0.8' } });
      expect([opened.status, opened.url]).toEqual([200, page]);
      expect(await opened.text()).toMatch(new RegExp(`<title>[^<]*${title}`));
    }
    const reseller = await fetch(baseUrl);
    expect(await reseller.json()).toEqual({
      status: 'success',
      requestID: expect.any(String),
      message: `The documentation is at ${baseUrl}/docs/.`,
      data: { documentation: `${baseUrl}/docs/`, openapi: `${baseUrl}/docs/openapi/reseller.json` },
    });
    const openapi = `${baseUrl}/docs/openapi/operator.json`;
    expect(await (await fetch(operatorUrl)).json()).toEqual({ documentation: `${baseUrl}/docs/operator/`, openapi });
    for (const url of [`${baseUrl}/docs/openapi/reseller.json`, openapi])
      expect(await (await fetch(url)).json()).toMatchObject({ openapi: expect.stringMatching(/^3\.1/) });

    const page = await fetch(`${baseUrl}/docs`);
    expect([page.status, page.url, page.headers.get('content-security-policy')]).toEqual([
      200,
      `${baseUrl}/docs/`,
      `${contentSecurityPolicy}; connect-src 'self' ${operatorUrl}`,
    ]);
    expect(await page.text()).toContain('<title>');
  });
});

describe('a sandbox behind a proxy, with the operator API on a separate address', () => {
  let directory: string;
  let server: Server;

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'read-server-'));
    server = await startSharedServer({
      RESELLER_DATA_DIR: directory,
      RESELLER_TRUST_PROXY: '127.0.0.1',
      RESELLER_LOG_LEVEL: 'info',
      RESELLER_OPERATOR_HOST: '127.0.0.2',
    });
    return async () => {
      await server.end('SIGKILL');
      rmSync(directory, { recursive: true });
    };
  });

  test('logs the client address that a trusted proxy reports', async () => {
    await fetch(`${server.baseUrl}/domain/list`, { headers: { 'x-forwarded-for': '203.0.113.9' } });
    await expect.poll(() => server.logged()).toContain('"client":"203.0.113.9"');
  });

  test('listens on RESELLER_OPERATOR_HOST for operators, and on 127.0.0.1 by default for resellers', async () => {
    expect(await listens('127.0.0.2', server.operatorUrl)).toBe(true);
    expect(await listens('127.0.0.1', server.operatorUrl)).toBe(false);
    expect(await listens('127.0.0.1', server.baseUrl)).toBe(true);
  });
});

async function listens(host: string, url: string): Promise<boolean> {
  const socket = connect(Number(new URL(url).port), host);
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

test('a request in progress still gets its response when the service stops', async () => {
  const server = await startServer({ RESELLER_DATA_DIR: temporaryDirectory() });
  const { hostname, port } = new URL(server.baseUrl);
  const form = 'cores=1&mem=1024&disk=10&os=debian_12&hostsystem=de_xeon';
  const socket = connect(Number(port), hostname);
  socket.write(
    `PUT /vm/create HTTP/1.1\r\nHost: ${hostname}\r\nX-SERVICE-APIKEY: ${server.apiKey}\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: ${form.length}\r\nExpect: 100-continue\r\n\r\n`,
  );
  // When the server asks for the body, it has received the head of the request.
  await once(socket, 'data');
  const ended = server.end('SIGTERM');
  socket.write(form);
  const response = await text(socket);
  expect(response).toMatch(/^HTTP\/1\.1 200 /);
  expect(await ended).toBe(0);
});

test('lets only its owner read the data folder, even if the folder or existing files had another mode', async () => {
  const directory = temporaryDirectory();
  chmodSync(directory, 0o777);
  const open = () => readdirSync(directory).filter((name) => (statSync(join(directory, name)).mode & 0o077) !== 0);
  const first = await startServer({ RESELLER_DATA_DIR: directory });
  expect(readdirSync(directory)).toEqual(
    expect.arrayContaining([
      'demo-api-key',
      'lock.sqlite',
      'operator-token',
      'secret',
      'store.sqlite',
      'store.sqlite-shm',
      'store.sqlite-wal',
    ]),
  );
  expect(open()).toEqual([]);
  await first.end('SIGKILL');
  for (const name of readdirSync(directory)) chmodSync(join(directory, name), 0o644);
  writeFileSync(join(directory, 'operator-token.new'), 'left by an interrupted start', { mode: 0o644 });
  rmSync(join(directory, 'operator-token'));
  await startServer({ RESELLER_DATA_DIR: directory });
  expect(open()).toEqual([]);
});

/** Values that a variable refuses. */
const REFUSED: Readonly<Record<string, readonly string[]>> = {
  RESELLER_PORT: ['http', '65536', '-1'],
  RESELLER_OPERATOR_PORT: ['4011x'],
  RESELLER_PUBLIC_URL: ['api.example.com'],
  RESELLER_LOG_LEVEL: ['loud'],
  RESELLER_SECRET: ['short'],
  RESELLER_EXTENSION: ['true'],
  RESELLER_SECRET_PREVIOUS: ['short'],
  RESELLER_INVOICE_LINK_DAYS: ['0'],
  RESELLER_TRUST_PROXY: ['1', '10.0.0.1, 10.0.0.0/33', '0.0.0.0/0', 'proxy.example.com'],
  RESELLER_ALLOWED_HOSTS: ['http://sandbox'],
  RESELLER_SECURITY_CONTACT: ['security@example.com'],
  RESELLER_LEASE_SECONDS: ['0'],
  RESELLER_INFRASTRUCTURE_SECONDS: ['3601'],
  RESELLER_SANDBOX_DELAYS: ['install=20', 'install=20s,install=30s', 'boot=20s', 'domain=25h'],
  RESELLER_MODE: ['staging'],
  RESELLER_INFRASTRUCTURE: ['real'],
  RESELLER_OPERATOR_TOKEN: ['short'],
};

test.each([0, 1, 2, 3])('refuses value %i of each variable with one clear line and exit code 1, and shows no secret', async (index) => {
  const refused = Object.entries(REFUSED).flatMap(([name, values]) => values.slice(index, index + 1).map((value) => [name, value]));
  const { code, stdout, stderr } = await runServer({ RESELLER_DATA_DIR: temporaryDirectory(), ...Object.fromEntries(refused) });
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  const lines = stderr.trimEnd().split('\n');
  expect(lines.map((line) => line.split(' ')[0]).toSorted()).toEqual(refused.map(([name]) => name).toSorted());
  for (const line of lines) expect.soft(line).toMatch(/ Set it to ./);
  for (const line of lines.filter((one) => one.startsWith('RESELLER_SECRET'))) expect.soft(line).not.toContain('short');
});

test('all mistakes in the variables come at once, one line for each', async () => {
  const { code, stderr } = await runServer({
    RESELLER_MODE: 'live',
    RESELLER_PORT: 'http',
    RESELLER_LOG_LEVEL: 'loud',
    RESELLER_SECRET: 'short',
    RESELLER_SECRET_FILE: 'missing',
    DATABASE_URL: 'mysql://127.0.0.1/reseller',
  });
  expect(code).toBe(1);
  expect(stderr.split('\n').map((line) => line.split(' ')[0])).toEqual([
    'Both',
    'RESELLER_PORT',
    'DATABASE_URL',
    'RESELLER_LOG_LEVEL',
    'RESELLER_INFRASTRUCTURE',
    'RESELLER_PUBLIC_URL',
    'RESELLER_EXTENSION',
    'RESELLER_SECRET',
    'RESELLER_OPERATOR_TOKEN',
    '',
  ]);
});

test('warns of a misspelt variable, and of no variable of other programs', async () => {
  const server = await startServer({ RESELLER_DATA_DIR: temporaryDirectory(), RESELLER_PROT: '4010', RESELLER_API_KEY: 'key' });
  await expect.poll(() => server.logged()).toContain('\n');
  expect(server.logged()).toBe(
    'Warning: RESELLER_PROT is not a variable of the service, so it has no effect. apps/server/README.md lists the variables.\n',
  );
});

test('the operator port is the one after RESELLER_PORT, unless it is set', async () => {
  const port = await freePort();
  const server = await startServer({ RESELLER_DATA_DIR: temporaryDirectory(), RESELLER_PORT: String(port), RESELLER_OPERATOR_PORT: '' });
  expect(server.operatorUrl).toBe(`http://127.0.0.1:${port + 1}`);
});

test.each([
  ['65535', '', /^RESELLER_OPERATOR_PORT is missing\. There is no port after 65535\. Set it to .*\n$/],
  ['4010', '4010', /^RESELLER_OPERATOR_PORT is '4010', which is also RESELLER_PORT\. Set it to another port\.\n$/],
])('refuses RESELLER_PORT=%s with RESELLER_OPERATOR_PORT=%s', async (port, operatorPort, line) => {
  const { code, stderr } = await runServer({ RESELLER_PORT: port, RESELLER_OPERATOR_PORT: operatorPort });
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(line) });
});

test('Ctrl-C says where the data is', async () => {
  const directory = temporaryDirectory();
  const server = await startServer({ RESELLER_DATA_DIR: directory });
  let printed = '';
  server.process.stdout?.on('data', (chunk) => (printed += String(chunk)));
  expect(await server.end('SIGINT')).toBe(0);
  expect(printed).toBe(`\nStopping. The data stays in ${directory}.\n`);
});

test.each(['RESELLER_PORT', 'RESELLER_OPERATOR_PORT'])('%s in use: one clear line and exit code 1', async (name) => {
  const other = createServer().listen(0, '127.0.0.1');
  onTestFinished(() => void other.close());
  await new Promise((resolve) => other.once('listening', resolve));
  const address = other.address();
  const port = typeof address === 'object' && address ? String(address.port) : '';
  const { code, stderr } = await runServer({ RESELLER_DATA_DIR: temporaryDirectory(), [name]: port });
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: `Port ${port} of 127.0.0.1 is in use by another process. Stop that process, or set ${name} to another port.\n`,
  });
});

test.each(['RESELLER_HOST', 'RESELLER_OPERATOR_HOST'])('%s that is not of this machine: one clear line and exit code 1', async (name) => {
  const { code, stderr } = await runServer({ RESELLER_DATA_DIR: temporaryDirectory(), [name]: '192.0.2.1' });
  expect(code).toBe(1);
  expect(stderr).toBe(`${name} is '192.0.2.1', which is not an address of this machine. Set it to one, such as 127.0.0.1.\n`);
});

test('a data directory that cannot be written to: one clear line and exit code 1', async () => {
  const file = join(temporaryDirectory(), 'file');
  writeFileSync(file, '');
  const { code, stderr } = await runServer({ RESELLER_DATA_DIR: join(file, 'data') });
  expect(code).toBe(1);
  expect(stderr).toMatch(/^The data directory .* cannot be written to .*\. Make it writable, or name another one\.\n$/);
});

const LIVE = {
  RESELLER_MODE: 'live',
  RESELLER_INFRASTRUCTURE: 'simulated',
  RESELLER_EXTENSION: 'on',
  RESELLER_OPERATOR_TOKEN: 'operator-token-of-a-live-service-0123',
  RESELLER_PUBLIC_URL: 'https://api.example.com',
};

test.each(['RESELLER_SECRET', 'RESELLER_OPERATOR_TOKEN', 'DATABASE_URL'])('a file for %s that cannot be used is named', async (name) => {
  const directory = temporaryDirectory();
  const [empty, missing] = [join(directory, 'empty'), join(directory, 'missing')];
  writeFileSync(empty, ' \n');
  const file = `${name}_FILE`;
  const cases: (readonly [Record<string, string>, string])[] = [
    [{ [file]: empty }, `${file} names the file ${empty}, which is empty. Write the value into it.`],
    [{ [file]: missing }, `${file} names the file ${missing}, which cannot be read (ENOENT). Make it readable for the service.`],
    [{ [file]: empty, [name]: 'a-secret-that-is-long-enough-for-all' }, `Both ${name} and ${file} are set. Set only one of them.`],
  ];
  const ended = await Promise.all(
    cases.map(([environment], index) => runServer({ RESELLER_DATA_DIR: join(directory, `data-${index}`), ...environment })),
  );
  expect(ended).toEqual(cases.map(([, line]) => expect.objectContaining({ code: 1, stdout: '', stderr: `${line}\n` })));
});

test.each(['RESELLER_INFRASTRUCTURE', 'RESELLER_EXTENSION', 'RESELLER_OPERATOR_TOKEN', 'RESELLER_PUBLIC_URL'])(
  'a live service without %s: one clear line and exit code 1',
  async (name) => {
    const { code, stdout, stderr } = await runServer({ ...LIVE, [name]: '', RESELLER_DATA_DIR: temporaryDirectory() });
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(new RegExp(`^${name} is missing.* Set it to .*\\n$`));
  },
);

test('a live service on simulated infrastructure, without seller and VAT, says so in its banner, in /readyz of both ports and in its log', async () => {
  const server = await startServer({ ...LIVE, RESELLER_DATA_DIR: temporaryDirectory() });
  expect(server.welcome).toContain('The infrastructure is simulated: the servers and domains that this service sells do not exist.');
  expect(server.welcome).not.toMatch(/sandbox/);
  expect(server.welcome).toContain(
    'It issues keys that can buy only after you call setSeller (PUT /invoicing/seller) and setVatRates (PUT /settings/vat-rates).',
  );
  expect(server.welcome).toMatch(/Extension +on: resellers may list, stop, change and delete what they bought\n/);
  const ready = { status: 'ready', infrastructure: 'simulated', extension: 'on', missing_settings: ['seller', 'vat_rates'] };
  for (const url of [server.baseUrl, server.operatorUrl]) expect(await (await fetch(`${url}/readyz`)).json()).toEqual(ready);
  expect(server.logged()).toContain('The infrastructure is simulated: the servers and domains that this service sells do not exist');
  expect(server.logged()).toContain('the service issues no key that can buy; call setSeller (PUT /invoicing/seller) and setVatRates');
});

test('a data directory without its secret file: one clear line, and no new secret is written', async () => {
  const directory = temporaryDirectory();
  const first = await startServer({ RESELLER_DATA_DIR: directory });
  await first.end('SIGTERM');
  const file = join(directory, 'secret');
  const secret = readFileSync(file, 'utf8');
  rmSync(file);
  const { code, stderr } = await runServer({ RESELLER_DATA_DIR: directory });
  expect(code).toBe(1);
  expect(stderr).toBe(
    `The file ${file} is missing, and the store next to it cannot be used without it. Restore the file, or set RESELLER_SECRET to its content.\n`,
  );
  expect(existsSync(file)).toBe(false);
  writeFileSync(file, secret);
  await startServer({ RESELLER_DATA_DIR: directory });
});

test('the printed token advances the clock, and the next banner shows its offset, the operator docs and the reset command', async () => {
  const directory = temporaryDirectory();
  const first = await startServer({ RESELLER_DATA_DIR: directory });
  expect(first.welcome).not.toContain('Clock');
  const token = /Operator token\s+(\S+)/.exec(first.welcome)?.[1] ?? '';
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  async function advance(by_seconds: number) {
    const body = JSON.stringify({ by_seconds });
    const response = await fetch(`${first.operatorUrl}/sandbox/clock/advance`, { method: 'POST', headers, body });
    return { status: response.status, ...(await response.json()) };
  }
  const { now, ...advanced } = await advance(900);
  const endsMonth = new Date(Date.parse(now) - 900_000).getUTCMonth() !== new Date(now).getUTCMonth();
  expect(advanced).toMatchObject({ status: 200, advance_seconds: 900, work_done: endsMonth ? 2 : 1 });
  expect(await advance(179_100)).toMatchObject({ status: 200, advance_seconds: 180_000 });
  await first.end('SIGTERM');

  const second = await startServer({ RESELLER_DATA_DIR: directory });
  expect(second.welcome).toMatch(/Clock +2 days 2 hours ahead of this machine\n/);
  expect(await (await fetch(`${second.operatorUrl}/sandbox/clock`, { headers })).json()).toMatchObject({ advance_seconds: 180_000 });
  const docs = /Operator docs +(\S+)/.exec(second.welcome)?.[1] ?? '';
  expect((await fetch(docs)).status).toBe(200);
  const reset = /Reset +(curl .*)\n/.exec(second.welcome)?.[1] ?? '';
  const { stdout } = await promisify(execFile)('/bin/sh', ['-c', `${reset} --silent`]);
  expect(JSON.parse(stdout)).toMatchObject({ advance_seconds: 0 });
  await second.end('SIGTERM');
  expect((await startServer({ RESELLER_DATA_DIR: directory })).welcome).not.toContain('Clock');
});

test.each([
  ['--help', { code: 0, stdout: expect.stringMatching(/^Usage: npx -y pnpm@12 start \[--real\]\n/), stderr: '' }],
  ['--reel', { code: 1, stdout: '', stderr: expect.stringMatching(/^Unknown option '--reel'.*\n\nUsage: /) }],
])('the option %s starts nothing', async (option, result) => {
  const directory = join(temporaryDirectory(), 'data');
  expect(await runCommand('main', [option], { RESELLER_DATA_DIR: directory }, serverProgram())).toEqual(result);
  expect(existsSync(directory)).toBe(false);
});
