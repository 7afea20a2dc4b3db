/** Purchases: the price before, the confirmation, and exactly one of them whatever happens. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { createFault, createSale, endSale, getClock, listFaults, removeFault, setCreditLimit } from '@reseller/operator-client';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';

import { byDepth } from '../../../.config/depth.ts';
import { PERSON } from '../../../packages/service/test/domains.ts';
import { person } from './cli.ts';
import type { Person } from './cli.ts';
import { startPlainService } from './plain-service.ts';
import { pendingOf, SMALL_VM, vmsOf } from './purchases.ts';
import { sandboxOfFile } from './sandbox.ts';
import type { Sandbox } from './sandbox.ts';

const startSandbox = sandboxOfFile();
let sandbox: Sandbox;
let user: Person;

beforeAll(async () => {
  sandbox = await startSandbox();
});

beforeEach(async () => {
  user = person({ RESELLER_DATA_DIR: sandbox.dataFolder });
  for (const { id } of (await listFaults({ client: sandbox.operator })).items) {
    await removeFault({ client: sandbox.operator, path: { fault_id: id } });
  }
});

test('shows the price and sends nothing without a terminal or --yes', async () => {
  const before = await vmsOf(sandbox);
  const { code, stdout, stderr } = await user.run('vm', 'create', ...SMALL_VM);
  expect({ code, stdout }).toEqual({ code: 10, stdout: '' });
  expect(stderr).toContain('Price: 10.40 EUR net, 12.38 EUR gross');
  expect(stderr).toContain('Nothing was sent, because there is no terminal to ask for confirmation. Add --yes to do it.');
  expect(await vmsOf(sandbox)).toEqual(before);
});

test('buys with --yes, guards the price that it showed, and forgets the key', async () => {
  const { code, stdout } = await user.run('vm', 'create', ...SMALL_VM, '--yes', '-o', 'json');
  expect(code).toBe(0);
  const { identifier, config } = JSON.parse(stdout);
  expect(await vmsOf(sandbox)).toContain(Number(identifier));
  expect(config.password).toMatch(/^\w{12,}$/);
  expect(pendingOf(user)).toEqual([]);
  const bought = (await sandbox.reseller.account.requests()).find(({ endpoint }) => endpoint === '/vm/create');
  expect(bought?.request_body).toContain('"max_price":"10.40"');
});

test('buys again when the command is run again after a success', async () => {
  const before = (await vmsOf(sandbox)).length;
  await user.run('vm', 'create', ...SMALL_VM, '--yes');
  await user.run('vm', 'create', ...SMALL_VM, '--yes');
  expect((await vmsOf(sandbox)).length).toBe(before + 2);
});

test('renews a domain once when the command is run again with --yes within a minute', async () => {
  const domain = 'renewed-once.net';
  const { handle } = await sandbox.reseller.domain.handle.create(PERSON);
  await sandbox.reseller.domain.register({ domain, handle });
  const expiry = async () => (await sandbox.reseller.domain.info(domain)).timings.expire;
  const before = await expiry();
  expect((await user.run('domain', 'renew', domain, '--yes')).code).toBe(0);
  const renewed = await expiry();
  expect(renewed).not.toBe(before);
  await user.run('domain', 'renew', domain, '--yes');
  expect(await expiry()).toBe(renewed);
});

test('shows the request and the price with --dry-run, and sends only reads', async () => {
  const before = await vmsOf(sandbox);
  const { code, stdout, stderr } = await user.run('vm', 'create', ...SMALL_VM, '--dry-run', '-o', 'json');
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ method: 'PUT', price: expect.stringContaining('10.40 EUR net'), body: { cores: 2 } });
  expect(stderr).toBe('Nothing was sent.\n');
  expect(await vmsOf(sandbox)).toEqual(before);
});

test('shows the price of a dedicated server, and of a VM with more memory', async () => {
  const [server] = await sandbox.reseller.dedicated.available();
  const { stdout } = await user.run('dedicated', 'purchase', String(server?.identifier), '--dry-run', '-o', 'json');
  expect(JSON.parse(stdout).price).toMatch(new RegExp(`^${server?.price.net.toFixed(2)} EUR net, .*: the first 30 days of the server`));
  const [vmid] = await vmsOf(sandbox);
  const changed = await user.run('vm', 'change', String(vmid), '--mem', '8192', '--dry-run', '-o', 'json');
  // 4 GB more at 1.20.
  expect(JSON.parse(changed.stdout).price).toMatch(/^15\.20 EUR net/);
});

test('shows the price that a VM in an upgradable sale is then billed for', async () => {
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
    const before = await vmsOf(sandbox);
    const refused = await other.run('vm', 'create', ...SMALL_VM, '--yes');
    expect(refused).toMatchObject({ code: 6, stdout: '', stderr: expect.stringContaining('Add --max-price with the highest net price') });
    expect(await vmsOf(sandbox)).toEqual(before);
    expect(await other.run('vm', 'create', ...SMALL_VM, '--yes', '--max-price', '10.40')).toMatchObject({ code: 0 });
    expect((await vmsOf(sandbox)).length).toBe(before.length + 1);
  });
});

test.each(byDepth({ usual: ['cut_after_commit'] as const, deep: ['cut_before_commit', 'cut_after_commit'] as const }))(
  'buys once when the responses are lost (%s) and the command is run again',
  async (kind) => {
    const before = await vmsOf(sandbox);
    await createFault({ client: sandbox.operator, body: { operations: ['createVm'], effect: { kind }, times: 3 } });
    const lost = await user.run('vm', 'create', ...SMALL_VM, '--yes');
    expect(lost).toMatchObject({ code: 9, stdout: '', stderr: expect.stringContaining('Run the same command again.') });
    expect(pendingOf(user)).toHaveLength(1);
    const again = await user.run('vm', 'create', ...SMALL_VM, '--yes', '-o', 'json');
    expect(again).toMatchObject({ code: 0, stderr: expect.stringContaining('It is bought once.') });
    expect(await vmsOf(sandbox)).toEqual(expect.arrayContaining([...before, Number(JSON.parse(again.stdout).identifier)]));
    expect((await vmsOf(sandbox)).length).toBe(before.length + 1);
    expect(pendingOf(user)).toEqual([]);
  },
);

/** Within the minute before the end of the 86,400 s for which the service keeps a key. */
const EXPIRING = new Date(Date.now() - 86_370_000).toISOString();
const unsafe = [
  { why: 'the service does not say that it keeps keys', change: { keyLifetime: null } },
  { why: 'the key may have expired', change: { begunAt: EXPIRING } },
];

test.each(unsafe)('refuses to continue a purchase when $why, until the user has looked', async ({ change }) => {
  const before = await vmsOf(sandbox);
  await createFault({ client: sandbox.operator, body: { operations: ['createVm'], effect: { kind: 'cut_after_commit' }, times: 3 } });
  await user.run('vm', 'create', ...SMALL_VM, '--yes');
  const [file = ''] = pendingOf(user);
  const path = join(user.stateFolder, 'pending', file);
  writeFileSync(path, JSON.stringify({ ...JSON.parse(readFileSync(path, 'utf8')), ...change }));
  expect(await user.run('vm', 'create', ...SMALL_VM, '--yes')).toMatchObject({
    code: 9,
    stderr: expect.stringContaining('could buy twice'),
  });
  expect((await vmsOf(sandbox)).length).toBe(before.length + 1);

  const [, id] = (await user.run('pending', 'list')).stdout.match(/^(\w{16}) +createVm/m) ?? [];
  expect(await user.run('pending', 'forget', String(id))).toMatchObject({ code: 0 });
  expect(await user.run('vm', 'create', ...SMALL_VM, '--yes')).toMatchObject({ code: 0 });
  expect((await vmsOf(sandbox)).length).toBe(before.length + 2);
});

test('carries out the same key of the user once', async () => {
  const before = (await vmsOf(sandbox)).length;
  const first = await user.run('vm', 'create', ...SMALL_VM, '--yes', '--idempotency-key', 'order-1');
  const second = await user.run('vm', 'create', ...SMALL_VM, '--yes', '--idempotency-key', 'order-1');
  expect(second).toEqual(first);
  expect((await vmsOf(sandbox)).length).toBe(before + 1);
});

test('says that the credit limit is exceeded, with its own exit code', async () => {
  const account = { client: sandbox.operator, path: { account_id: sandbox.accountId } };
  await setCreditLimit({ ...account, body: { credit_limit: '1.00' } });
  expect(await user.run('vm', 'create', ...SMALL_VM, '--yes')).toMatchObject({ code: 6, stderr: expect.stringContaining('credit limit') });
  expect(pendingOf(user)).toEqual([]);
  await setCreditLimit({ ...account, body: { credit_limit: '1000.00' } });
});

test('refuses a price that is higher than the one given', async () => {
  const { code, stderr } = await user.run('vm', 'create', ...SMALL_VM, '--yes', '--max-price', '10.39');
  expect({ code, stderr }).toEqual({ code: 6, stderr: expect.stringContaining('10.39') });
  expect(pendingOf(user)).toEqual([]);
});
