/** Purchases: the price before, the confirmation, and exactly one of them whatever happens. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import {
  advanceClock,
  createFault,
  createSale,
  endSale,
  getClock,
  listFaults,
  removeFault,
  setCreditLimit,
} from '@reseller/operator-client';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import { byDepth } from '../../../.config/depth.ts';
import { PERSON } from '../../../packages/service/test/domains.ts';
import { newFolder, person, program, startSandbox } from './cli.ts';
import type { Person, Sandbox } from './cli.ts';
import { startPlainService } from './plain-service.ts';

const SMALL_VM = ['--cores', '2', '--mem', '4096', '--disk', '40', '--os', 'debian_12', '--hostsystem', 'nl_ryzen'];

let sandbox: Sandbox;
let user: Person;

beforeAll(async () => {
  sandbox = await startSandbox();
});

afterAll(() => sandbox.stop());

beforeEach(async () => {
  user = person({ RESELLER_DATA_DIR: sandbox.dataFolder });
  for (const { id } of (await listFaults({ client: sandbox.operator })).items) {
    await removeFault({ client: sandbox.operator, path: { fault_id: id } });
  }
});

async function vms(): Promise<number[]> {
  return (await sandbox.reseller.vm.list()).list.map(({ vmid }) => vmid);
}

function pending(): string[] {
  const folder = join(user.stateFolder, 'pending');
  return existsSync(folder) ? readdirSync(folder) : [];
}

test('shows the price and sends nothing without a terminal or --yes', async () => {
  const before = await vms();
  const { code, stdout, stderr } = await user.run('vm', 'create', ...SMALL_VM);
  expect({ code, stdout }).toEqual({ code: 10, stdout: '' });
  expect(stderr).toContain('Price: 10.40 EUR net, 12.38 EUR gross');
  expect(stderr).toContain('Nothing was sent, because there is no terminal to ask for confirmation. Add --yes to do it.');
  expect(await vms()).toEqual(before);
});

test('buys with --yes, guards the price that it showed, and forgets the key', async () => {
  const { code, stdout } = await user.run('vm', 'create', ...SMALL_VM, '--yes', '-o', 'json');
  expect(code).toBe(0);
  const { identifier, config } = JSON.parse(stdout);
  expect(await vms()).toContain(Number(identifier));
  expect(config.password).toMatch(/^\w{12,}$/);
  expect(pending()).toEqual([]);
  const bought = (await sandbox.reseller.account.requests()).find(({ endpoint }) => endpoint === '/vm/create');
  expect(bought?.request_body).toContain('"max_price":"10.40"');
});

test('buys again when the command is run again after a success', async () => {
  const before = (await vms()).length;
  await user.run('vm', 'create', ...SMALL_VM, '--yes');
  await user.run('vm', 'create', ...SMALL_VM, '--yes');
  expect((await vms()).length).toBe(before + 2);
});

test('shows the request and the price with --dry-run, and sends only reads', async () => {
  const before = await vms();
  const { code, stdout, stderr } = await user.run('vm', 'create', ...SMALL_VM, '--dry-run', '-o', 'json');
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ method: 'PUT', price: expect.stringContaining('10.40 EUR net'), body: { cores: 2 } });
  expect(stderr).toBe('Nothing was sent.\n');
  expect(await vms()).toEqual(before);
});

test('shows the price of a dedicated server, and of a VM with more memory', { tags: 'deep' }, async () => {
  const [server] = await sandbox.reseller.dedicated.available();
  const { stdout } = await user.run('dedicated', 'purchase', String(server?.identifier), '--dry-run', '-o', 'json');
  expect(JSON.parse(stdout).price).toMatch(new RegExp(`^${server?.price.net.toFixed(2)} EUR net, .*: the first 30 days of the server`));
  const [vmid] = await vms();
  const changed = await user.run('vm', 'change', String(vmid), '--mem', '8192', '--dry-run', '-o', 'json');
  // 4 GB more at 1.20.
  expect(JSON.parse(changed.stdout).price).toMatch(/^15\.20 EUR net/);
});

test('shows the price that a VM in an upgradable sale is then billed for', { tags: 'deep' }, async () => {
  const now = Date.parse((await getClock({ client: sandbox.operator })).now);
  const { id } = await createSale({
    client: sandbox.operator,
    body: {
      title: 'Kept prices',
      start_date: new Date(now).toISOString(),
      upgradable: true,
      max_volume: 1,
      pricings: { nl_ryzen: { core: '0.50' } },
    },
  });
  const form = { cores: 2, mem: 4096, disk: 40, os: 'debian_12', hostsystem: 'nl_ryzen' };
  const { identifier } = await sandbox.reseller.vm.create(form);
  const changed = ['vm', 'change', String(identifier), '--cores', '4'];
  const { stdout } = await user.run(...changed, '--dry-run', '-o', 'json');
  // 4 x 0.50 + 4 x 1.20 + 40 x 0.04
  expect(JSON.parse(stdout).price).toMatch(/^8\.40 EUR net, 10\.00 EUR gross: for each 30 days that it runs, in the sale "Kept prices"; /);
  const bought = await user.run(...changed, '--yes', '-o', 'json');
  expect(JSON.parse(bought.stdout).pricings).toEqual({ monthly: 8.4, monthly_gross: 10 });
  await endSale({ client: sandbox.operator, path: { sale_id: id } }).catch(() => undefined);
});

describe('a service without quotes', () => {
  test('has the price of its price lists', async () => {
    const other = person({
      RESELLER_BASE_URL: await startPlainService(sandbox.baseUrl, { hasPrices: true }),
      RESELLER_API_KEY: sandbox.apiKey,
    });
    const { stdout } = await other.run('vm', 'create', ...SMALL_VM, '--dry-run', '-o', 'json');
    expect(JSON.parse(stdout).price).toMatch(/^10\.40 EUR net, 12\.38 EUR gross: at most, for each 30 days that it runs, by listVmHosts/);
  });

  test('has the price of a sale that is active by its own clock', async () => {
    const { now } = await getClock({ client: sandbox.operator });
    const start = Date.parse(now) + 86_400_000;
    const sale = { title: 'Tomorrow', start_date: new Date(start).toISOString(), upgradable: false, max_volume: 1 };
    await createSale({ client: sandbox.operator, body: { ...sale, pricings: { nl_ryzen: { core: '0.10' } } } });
    const shownAt = async (time: number) => {
      const baseUrl = await startPlainService(sandbox.baseUrl, { hasPrices: true, time });
      const other = person({ RESELLER_BASE_URL: baseUrl, RESELLER_API_KEY: sandbox.apiKey });
      const { stdout } = await other.run('vm', 'create', ...SMALL_VM, '--dry-run', '-o', 'json');
      return JSON.parse(stdout).price;
    };
    expect(await shownAt(start + 1000)).toContain('by the sale "Tomorrow"');
    expect(await shownAt(start - 1000)).toContain('by listVmHosts');
  });

  test('sells at an unknown price only with --max-price, not with --yes alone', async () => {
    const other = person({
      RESELLER_BASE_URL: await startPlainService(sandbox.baseUrl, { hasPrices: false }),
      RESELLER_API_KEY: sandbox.apiKey,
    });
    const before = await vms();
    const refused = await other.run('vm', 'create', ...SMALL_VM, '--yes');
    expect(refused).toMatchObject({ code: 6, stdout: '', stderr: expect.stringContaining('Add --max-price with the highest net price') });
    expect(await vms()).toEqual(before);
    expect(await other.run('vm', 'create', ...SMALL_VM, '--yes', '--max-price', '10.40')).toMatchObject({ code: 0 });
    expect((await vms()).length).toBe(before.length + 1);
  });
});

test.each(byDepth({ usual: ['cut_after_commit'] as const, deep: ['cut_before_commit', 'cut_after_commit'] as const }))(
  'buys once when the responses are lost (%s) and the command is run again',
  async (kind) => {
    const before = await vms();
    await createFault({ client: sandbox.operator, body: { operations: ['createVm'], effect: { kind }, times: 3 } });
    const lost = await user.run('vm', 'create', ...SMALL_VM, '--yes');
    expect(lost).toMatchObject({ code: 9, stdout: '', stderr: expect.stringContaining('Run the same command again.') });
    expect(pending()).toHaveLength(1);
    const again = await user.run('vm', 'create', ...SMALL_VM, '--yes', '-o', 'json');
    expect(again).toMatchObject({ code: 0, stderr: expect.stringContaining('It is bought once.') });
    expect(await vms()).toEqual(expect.arrayContaining([...before, Number(JSON.parse(again.stdout).identifier)]));
    expect((await vms()).length).toBe(before.length + 1);
    expect(pending()).toEqual([]);
  },
);

test('buys once when the program is killed while it waits, and refuses the same command until then', async () => {
  const before = await vms();
  await createFault({
    client: sandbox.operator,
    body: { operations: ['createVm'], effect: { kind: 'delay', milliseconds: 60_000 }, times: 1 },
  });
  const running = await user.start('vm', 'create', ...SMALL_VM, '--yes');
  await expect.poll(async () => (await listFaults({ client: sandbox.operator })).items).toEqual([]);
  expect(await user.run('vm', 'create', ...SMALL_VM, '--yes')).toMatchObject({
    code: 7,
    stderr: expect.stringContaining(`The same command is running in process ${running.pid}.`),
  });
  running.kill('SIGKILL');
  await once(running, 'exit');
  const [file = ''] = pending();
  expect(statSync(join(user.stateFolder, 'pending', file)).mode & 0o777).toBe(0o600);
  expect(readFileSync(join(user.stateFolder, 'pending', file), 'utf8')).not.toContain(sandbox.apiKey);
  const again = await user.run('vm', 'create', ...SMALL_VM, '--yes');
  expect(again).toMatchObject({ code: 0, stderr: expect.stringContaining('Continuing the same command') });
  expect((await vms()).length).toBe(before.length + 1);
});

test('Ctrl-C during a purchase says how to continue it, and the same line again buys one VM', async () => {
  const before = await vms();
  await createFault({
    client: sandbox.operator,
    body: { operations: ['createVm'], effect: { kind: 'delay', milliseconds: 60_000 }, times: 1 },
  });
  const running = await user.start('vm', 'create', ...SMALL_VM, '--yes');
  let stderr = '';
  running.stderr.on('data', (chunk) => (stderr += chunk));
  await expect.poll(async () => (await listFaults({ client: sandbox.operator })).items).toEqual([]);
  running.kill('SIGINT');
  expect(await once(running, 'close')).toEqual([130, null]);
  expect(stderr).toContain('Interrupted. Run the same line again: it never buys twice.');
  const again = await user.run('vm', 'create', ...SMALL_VM, '--yes');
  expect(again).toMatchObject({ code: 0, stderr: expect.stringContaining('Continuing the same command') });
  expect((await vms()).length).toBe(before.length + 1);
  expect(pending()).toEqual([]);
});

test('a purchase is on the disk with its name before it is sent, and so is a changed setting', async () => {
  const recorded = join(newFolder(), 'syncs');
  const preload = new URL('../../../.config/recorded-syncs.ts', import.meta.url).href;
  user = person({ RESELLER_DATA_DIR: sandbox.dataFolder, NODE_OPTIONS: `--import=${preload}`, RECORDED_SYNCS: recorded });
  expect(await user.run('vm', 'create', ...SMALL_VM, '--yes')).toMatchObject({ code: 0 });
  const lines = readFileSync(recorded, 'utf8').split('\n');
  const folder = join(user.stateFolder, 'pending');
  expect(lines.slice(0, lines.indexOf(`send PUT ${sandbox.baseUrl}/vm/create`)).slice(-3)).toEqual([
    expect.stringMatching(/^sync .*\/pending\/\w+\.json\.\d+\.new$/),
    expect.stringMatching(/^name .*\/pending\/\w+\.json$/),
    `sync ${folder}`,
  ]);
  await user.runWith('key\n', 'profile', 'add', 'other', '--url', sandbox.baseUrl);
  expect(readFileSync(recorded, 'utf8').trimEnd().split('\n').slice(-3)).toEqual([
    expect.stringMatching(/^sync .*\.new$/),
    expect.stringMatching(/^name /),
    `sync ${user.configFolder}`,
  ]);
});

test('a purchase whose output is lost is shown again by the same command, and bought once', async ({ skip }) => {
  if (process.platform !== 'linux') return skip('only Linux has /dev/full');
  const before = await vms();
  const full = openSync('/dev/full', 'w');
  const child = spawn(process.execPath, [await program(), 'vm', 'create', ...SMALL_VM, '--yes'], {
    env: user.env,
    stdio: ['ignore', full, 'ignore'],
  });
  const [code] = await once(child, 'exit');
  closeSync(full);
  expect(code).not.toBe(0);
  expect(pending()).toHaveLength(1);
  const again = await user.run('vm', 'create', ...SMALL_VM, '--yes', '-o', 'json');
  expect(again.code).toBe(0);
  expect(JSON.parse(again.stdout).config.password).toMatch(/^\w{12,}$/);
  expect((await vms()).length).toBe(before.length + 1);
});

/** Within the minute before the end of the 86,400 s for which the service keeps a key. */
const EXPIRING = new Date(Date.now() - 86_370_000).toISOString();
const unsafe = [
  { why: 'the service does not say that it keeps keys', change: { keyLifetime: null } },
  { why: 'the key may have expired', change: { begunAt: EXPIRING } },
];

test.each(unsafe)('refuses to continue a purchase when $why, until the user has looked', async ({ change }) => {
  const before = await vms();
  await createFault({ client: sandbox.operator, body: { operations: ['createVm'], effect: { kind: 'cut_after_commit' }, times: 3 } });
  await user.run('vm', 'create', ...SMALL_VM, '--yes');
  const [file = ''] = pending();
  const path = join(user.stateFolder, 'pending', file);
  writeFileSync(path, JSON.stringify({ ...JSON.parse(readFileSync(path, 'utf8')), ...change }));
  expect(await user.run('vm', 'create', ...SMALL_VM, '--yes')).toMatchObject({
    code: 9,
    stderr: expect.stringContaining('could buy twice'),
  });
  expect((await vms()).length).toBe(before.length + 1);

  const [, id] = (await user.run('pending', 'list')).stdout.match(/^(\w{16}) +createVm/m) ?? [];
  expect(await user.run('pending', 'forget', String(id))).toMatchObject({ code: 0 });
  expect(await user.run('vm', 'create', ...SMALL_VM, '--yes')).toMatchObject({ code: 0 });
  expect((await vms()).length).toBe(before.length + 2);
});

test('carries out the same key of the user once', async () => {
  const before = (await vms()).length;
  const first = await user.run('vm', 'create', ...SMALL_VM, '--yes', '--idempotency-key', 'order-1');
  const second = await user.run('vm', 'create', ...SMALL_VM, '--yes', '--idempotency-key', 'order-1');
  expect(second).toEqual(first);
  expect((await vms()).length).toBe(before + 1);
});

test('says that the credit limit is exceeded, with its own exit code', async () => {
  const account = { client: sandbox.operator, path: { account_id: sandbox.accountId } };
  await setCreditLimit({ ...account, body: { credit_limit: '1.00' } });
  expect(await user.run('vm', 'create', ...SMALL_VM, '--yes')).toMatchObject({ code: 6, stderr: expect.stringContaining('credit limit') });
  expect(pending()).toEqual([]);
  await setCreditLimit({ ...account, body: { credit_limit: '1000.00' } });
});

test('refuses a price that is higher than the one given', async () => {
  const { code, stderr } = await user.run('vm', 'create', ...SMALL_VM, '--yes', '--max-price', '10.39');
  expect({ code, stderr }).toEqual({ code: 6, stderr: expect.stringContaining('10.39') });
  expect(pending()).toEqual([]);
});

test('a renewal that a person confirms is the one of the shown expiry', async ({ skip }) => {
  if (process.platform !== 'linux') skip('needs script of util-linux, which gives a program a terminal');
  const { domain } = sandbox.reseller;
  const { handle } = await domain.handle.create(PERSON);
  await domain.register({ domain: 'confirmed-once.net', handle });
  const expiry = async () => (await domain.info('confirmed-once.net')).timings.expire;
  const shown = await expiry();
  const line = `'${process.execPath}' '${await program()}' domain renew confirmed-once.net`;
  const terminal = spawn('script', ['-qec', line, '/dev/null'], { env: user.env });
  let output = '';
  for (const stream of [terminal.stdout, terminal.stderr]) stream.on('data', (part) => (output += String(part)));
  await expect.poll(() => output).toContain('Do it? [y/N]');
  expect(output).toContain(`Expires: ${shown}`);
  // Meanwhile, somebody else renews it.
  await domain.renew('confirmed-once.net');
  const renewed = await expiry();
  await advanceClock({ client: sandbox.operator, body: { by_seconds: 61 } });
  terminal.stdin.write('y\n');
  await once(terminal, 'close');
  expect(output).toContain(renewed);
  expect(await expiry()).toBe(renewed);
});
