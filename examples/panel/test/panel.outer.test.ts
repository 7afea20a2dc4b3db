/** The panel against the real service, through connections that break, and in processes that are killed. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

import { createReseller, ResellerError } from '@reseller/client/extension';
import type { CreateHandleForm, Reseller } from '@reseller/client/extension';
import { createTestService } from '@reseller/testing';
import type { TestService } from '@reseller/testing';
import { createServiceInside } from '@reseller/testing/inside';
import { expect, onTestFinished, test, vi } from 'vitest';

import { byDepth } from '../../../.config/depth.ts';
import { startProxy } from '../../../packages/testing/test/client/proxy.ts';
import type { Fate, Proxy } from '../../../packages/testing/test/client/proxy.ts';
import { addresses, buyAddresses, moveAddress, releaseAddress } from '../src/client-area.ts';
import * as domains from '../src/domains.ts';
import { cancel, domainArea, registerDomain, renewDomain } from '../src/domains.ts';
import { openOrders } from '../src/orders.ts';
import type { Panel } from '../src/purchase.ts';
import { changeCost, changePackage, createServer, newPassword, serverArea, suspend, terminate, unsuspend } from '../src/servers.ts';

const DAY_MS = 86_400_000;
const PURCHASES = /^\/(?:vm\/create|vm\/\d+\/change|domain\/register|domain\/[^/]+\/renew)$/;
const CONTACT_FILE = join(import.meta.dirname, '../contact.json');
const CONTACT: CreateHandleForm = JSON.parse(readFileSync(CONTACT_FILE, 'utf8'));

const REGISTER: Click = { words: ['register', '5001', 'panel-customer.net', CONTACT_FILE], path: '/domain/register' };
const CREATE: Click = { words: ['create', '4711', 'small'], path: '/vm/create' };

interface Setting {
  readonly service: TestService;
  readonly baseUrl: string;
  /** The proxy between the panel and the service. */
  readonly proxy: Proxy;
  /** The database of the panel. */
  readonly file: string;
  /** The provider's client, which does not use the proxy. */
  readonly reseller: Reseller;
}

async function start(given?: TestService): Promise<Setting> {
  const service = given ?? (await createTestService());
  onTestFinished(() => service.close());
  const baseUrl = await service.listen();
  const proxy = await startProxy(baseUrl, { isPurchase: ({ url = '' }) => PURCHASES.test(url) });
  onTestFinished(() => proxy.close());
  const folder = mkdtempSync(join(tmpdir(), 'panel-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const reseller = createReseller({ baseUrl, apiKey: service.apiKey });
  // On a busy machine, the first change in a process can take longer than the timeout of the panel.
  await reseller.domain.handle.create({ ...CONTACT, email: 'first@example.org' });
  return { service, baseUrl, proxy, file: join(folder, 'panel.sqlite'), reseller };
}

/** A panel with its own client and its own connection to the database, like a separate process. */
function open({ service, proxy, file }: Setting): Panel {
  const orders = openOrders(file);
  onTestFinished(() => orders.close());
  return { orders, reseller: createReseller({ baseUrl: proxy.baseUrl, apiKey: service.apiKey, timeoutMs: 2_000 }) };
}

const vmsOf = async ({ reseller }: Setting) => (await reseller.vm.list()).list;

const LOSSES: readonly Fate[] = [
  { kind: 'reset', when: 'before' },
  { kind: 'reset', when: 'after' },
  { kind: 'cut' },
  { kind: 'hang', when: 'before' },
  { kind: 'hang', when: 'after' },
];

const ORDERS_OF_LOSSES = byDepth({ usual: [LOSSES], deep: [LOSSES, LOSSES.toReversed()] });

test('sells a VM, suspends it, changes its package and terminates it', async () => {
  const setting = await start();
  const panel = open(setting);
  const { vmid, address, username, password } = await createServer(panel, '4711', 'small');
  expect({ username, password }).toEqual({ username: 'root', password: expect.any(String) });
  expect(await serverArea(panel, '4711')).toMatchObject({
    package: 'small',
    state: 'active',
    vm: { status: 'running', addresses: [address] },
  });

  await suspend(panel, '4711');
  await suspend(panel, '4711');
  expect(await serverArea(panel, '4711')).toMatchObject({ state: 'suspended', vm: { status: 'stopped' } });
  await unsuspend(panel, '4711');
  expect(await serverArea(panel, '4711')).toMatchObject({ state: 'active', vm: { status: 'running' } });

  await expect(changePackage(panel, '4711', 'huge')).rejects.toThrow('The package huge does not exist. Choose small, medium, large.');
  await changePackage(panel, '4711', 'large');
  expect((await vmsOf(setting))[0]).toMatchObject({ vmid: Number(vmid), config: { cores: 4, mem: 8192, disk: 80 } });
  expect(await serverArea(panel, '4711')).toMatchObject({ package: 'large' });
  expect(await newPassword(panel, '4711')).not.toBe(password);

  await terminate(panel, '4711');
  await terminate(panel, '4711');
  expect(await vmsOf(setting)).toEqual([]);
  expect(await serverArea(panel, '4711')).toEqual({ package: 'large', state: 'terminated', vm: null });
  await expect(suspend(panel, '4711')).rejects.toThrow('The order 4711 is terminated and has no VM.');

  // A customer who comes back gets a new VM.
  await createServer(panel, '4711', 'small');
  expect(await vmsOf(setting)).toHaveLength(1);
});

test('refuses to sell while prices are above those of the packages, and keeps the package and the price of a sold VM', async () => {
  const setting = await start();
  const panel = open(setting);
  const { vmid } = await createServer(panel, '4711', 'small');
  const sold = await setting.reseller.vm.config(vmid);

  await setCorePrice(setting, '2.01');
  const tooExpensive = { status: 412, message: expect.stringContaining('max_price') };
  await expect(createServer(panel, '4712', 'small')).rejects.toMatchObject(tooExpensive);
  await expect(changePackage(panel, '4711', 'large')).rejects.toMatchObject(tooExpensive);
  expect(await serverArea(panel, '4711')).toMatchObject({ package: 'small', state: 'active', vm: { status: 'running' } });
  expect(await serverArea(panel, '4712')).toEqual({ package: 'small', state: 'ordered', vm: null });
  expect(await setting.reseller.vm.config(vmid)).toEqual(sold);
  expect(await vmsOf(setting)).toHaveLength(1);

  // The next click on the same order buys the VM.
  await setCorePrice(setting, '2.00');
  await createServer(panel, '4712', 'small');
  expect(await changeCost(panel, '4711', 'large')).toEqual({ net: 20.8, gross: 24.75 });
  await changePackage(panel, '4711', 'large');
  expect(await setting.reseller.vm.config(vmid)).toMatchObject({ pricings: { monthly: 20.8, monthly_gross: 24.75 } });
  expect((await vmsOf(setting)).map(({ config }) => config.cores).toSorted()).toEqual([1, 4]);
});

test.each(ORDERS_OF_LOSSES)('buys one VM for eight concurrent clicks through connections that break', async (...losses) => {
  const setting = await start();
  setting.proxy.plan(...losses, ...losses);
  const clicks = await Promise.allSettled(Array.from({ length: 8 }, () => createServer(open(setting), '4711', 'small')));
  const { vmid } = await createServer(open(setting), '4711', 'small');
  expect((await vmsOf(setting)).map((vm) => String(vm.vmid))).toEqual([vmid]);
  for (const click of clicks) {
    if (click.status === 'fulfilled') expect(click.value.vmid).toBe(vmid);
    else expect(click.reason).toBeInstanceOf(ResellerError);
  }
});

test('buys one VM for eight clicks, each in a process that is killed while the service carries out the purchase', async () => {
  const setting = await start();
  for (let click = 0; click < 8; click++) {
    const loss = LOSSES[click % LOSSES.length] ?? { kind: 'cut' };
    const hang: Fate = { kind: 'hang', when: click % 2 === 0 ? 'after' : 'before' };
    await killClick(setting, CREATE, ...(loss.kind === 'hang' ? [loss] : [loss, hang]));
  }
  const { output } = command(setting, ...CREATE.words);
  expect(await output).toMatch(/^VM \d{5} at /);
  expect(await vmsOf(setting)).toHaveLength(1);
});

test('leaves no VM if an order is terminated while its VM is being created', async () => {
  const setting = await start();
  setting.proxy.plan({ kind: 'hang', when: 'after' });
  const click = createServer(open(setting), '4711', 'small').catch((error: unknown) => error);
  await expect.poll(() => vmsOf(setting)).toHaveLength(1);
  await terminate(open(setting), '4711');
  expect(await click).toEqual(new Error('The order 4711 was terminated during its purchase, which was then cancelled.'));
  expect(await vmsOf(setting)).toEqual([]);
});

test('finds the VM of an order that is a day old, and buys no other', async () => {
  const setting = await start();
  await killClick(setting, CREATE, { kind: 'hang', when: 'after' });
  await expect.poll(() => vmsOf(setting)).toHaveLength(1);
  const [vm] = await vmsOf(setting);
  letADayPass();
  expect(await createServer(open(setting), '4711', 'small')).toMatchObject({ vmid: String(vm?.vmid), password: undefined });
  expect(await vmsOf(setting)).toHaveLength(1);
});

test('does not carry out an order that is a day old and bought nothing, and accepts a new order of the service', async () => {
  const setting = await start();
  await killClick(setting, CREATE, { kind: 'hang', when: 'before' });
  letADayPass();
  const panel = open(setting);
  await expect(createServer(panel, '4711', 'small')).rejects.toThrow('is too old, and bought nothing. Terminate it, then order again.');
  expect(await vmsOf(setting)).toEqual([]);
  await terminate(panel, '4711');
  await createServer(panel, '4711', 'small');
  expect(await vmsOf(setting)).toHaveLength(1);
});

test.each(ORDERS_OF_LOSSES)('buys two further addresses for eight concurrent clicks through connections that break', async (...losses) => {
  const setting = await start();
  const { vmid } = await createServer(open(setting), '4711', 'small');
  setting.proxy.plan(...losses, ...losses);
  await Promise.allSettled(Array.from({ length: 8 }, () => buyAddresses(open(setting), '4711', 3)));
  expect(await buyAddresses(open(setting), '4711', 3)).toHaveLength(3);
  // 5.20 EUR for the package, and twice 1.50 EUR.
  expect(await setting.reseller.vm.config(vmid)).toMatchObject({ pricings: { monthly: 8.2 } });
});

test(
  'buys one further address for eight clicks, each in a process that is killed while the service carries out the purchase',
  { tags: 'deep' },
  async () => {
    const setting = await start();
    const { vmid } = await createServer(open(setting), '4711', 'small');
    const click = { words: ['addresses', '4711', '2'], path: `/vm/${vmid}/change` };
    // A click after one that was carried out finds the address, and sends no purchase.
    for (let count = 0; count < 7; count++) await killClick(setting, click, { kind: 'hang', when: 'before' });
    await killClick(setting, click, { kind: 'hang', when: 'after' });
    const { output } = command(setting, ...click.words);
    expect((await output).trim().split('\n')).toHaveLength(2);
    expect(await addresses(open(setting), '4711')).toHaveLength(2);
  },
);

test('moves an address to another server and gives it back, however often', async () => {
  const setting = await start();
  const panel = open(setting);
  const servers = [await createServer(panel, '4711', 'small'), await createServer(panel, '4712', 'small')];
  const [, second = ''] = await buyAddresses(panel, '4711', 2);
  for (let click = 0; click < 2; click++) await moveAddress(panel, second, '4712');
  expect([await addresses(panel, '4711'), await addresses(panel, '4712')]).toEqual([[servers[0]?.address], [servers[1]?.address, second]]);
  // The price guard of a change of the package knows the address.
  await changePackage(panel, '4712', 'large');
  for (let click = 0; click < 2; click++) await releaseAddress(panel, '4712', second);
  expect((await setting.reseller.ip.list()).filter(({ family, first }) => family === 4 && !first)).toEqual([]);
});

test.each(ORDERS_OF_LOSSES)('buys a domain once for eight concurrent clicks through connections that break', async (...losses) => {
  const setting = await start();
  setting.proxy.plan(...losses, ...losses);
  const clicks = await Promise.allSettled(
    Array.from({ length: 8 }, () => registerDomain(open(setting), { service: '5001', name: 'panel-customer.net', contact: CONTACT })),
  );
  expect(await registerDomain(open(setting), { service: '5001', name: 'panel-customer.net', contact: CONTACT })).toMatchObject({
    cancelled: false,
  });
  for (const click of clicks) if (click.status === 'rejected') expect(click.reason).toBeInstanceOf(ResellerError);
  await expectOneDomain(setting);
});

test(
  'buys a domain once for eight clicks, each in a process that is killed while the service carries out the purchase',
  { tags: 'deep' },
  async () => {
    const setting = await start();
    for (let count = 0; count < 8; count++)
      await killClick(setting, REGISTER, { kind: 'hang', when: count % 2 === 0 ? 'before' : 'after' });
    expect(await command(setting, ...REGISTER.words).output).toMatch(/^panel-customer\.net is LOCK, is renewed at /);
    await expectOneDomain(setting);
  },
);

test('finds the domain of an order that is a day old', async () => {
  const setting = await start();
  await killClick(setting, REGISTER, { kind: 'hang', when: 'after' });
  await expect.poll(() => setting.reseller.domain.list()).toEqual(['panel-customer.net']);
  letADayPass();
  await registerDomain(open(setting), { service: '5001', name: 'panel-customer.net', contact: CONTACT });
  await expectOneDomain(setting);
});

test('sells a domain to one customer, and gives no order the domain of another panel, at once or later', async () => {
  const setting = await start();
  const panel = open(setting);
  await registerDomain(panel, { service: '5001', name: 'panel-customer.net', contact: CONTACT });
  const ordered = 'The domain panel-customer.net was ordered by the service 5001.';
  await expect(registerDomain(panel, { service: '5002', name: 'panel-customer.net', contact: CONTACT })).rejects.toThrow(ordered);
  await expect(
    registerDomain(panel, { service: '5002', name: 'panel-customer.net', contact: CONTACT, authcode: 'made-up-code' }),
  ).rejects.toThrow(ordered);

  // A second panel with the same account, and the same number of the order.
  const other = open({ ...setting, file: `${setting.file}-other` });
  const click = () =>
    registerDomain(other, { service: '5001', name: 'panel-customer.net', contact: { ...CONTACT, email: 'other@example.org' } });
  await expect(click()).rejects.toThrow('is already registered.');
  letADayPass();
  await expect(click()).rejects.toThrow('is too old, and bought nothing.');
  await expectOneDomain(setting);
});

test('touches no domain that another panel with the same account has sold', async () => {
  const setting = await start();
  const name = 'panel-customer.net';
  await registerDomain(open(setting), { service: '5001', name, contact: CONTACT });
  const other = open({ ...setting, file: `${setting.file}-other` });
  const { isAvailable, registerDomain: _register, ...touching } = domains;
  const given = new Map<string, readonly unknown[]>([
    ['renewDomain', ['2027-11-10']],
    ['changeContact', [CONTACT]],
    ['setNameservers', [{ ns1: 'ns1.example.org', ns2: 'ns2.example.org' }]],
    ['addRecord', [{ type: 'A', sub: 'www', data: '198.51.100.7' }]],
    ['editRecord', ['record', '198.51.100.7']],
    ['removeRecord', ['record']],
    ['setLock', [true]],
  ]);
  expect(await isAvailable(other, name)).toBe(false);
  expect(Object.keys(touching).length).toBeGreaterThan(10);
  for (const [called, touch] of Object.entries<(...words: never[]) => Promise<unknown>>(touching))
    await expect(Reflect.apply(touch, undefined, [other, name, ...(given.get(called) ?? [])])).rejects.toThrow(
      `There is no order ${name}.`,
    );
});

test('sells a domain again after the registry has refused it', async () => {
  const registry = { end: 'running' };
  const service = await createServiceInside({
    registrar: (simulated) => ({
      ...simulated,
      register: async (order, token) => {
        const end = await simulated.register(order, token);
        return registry.end === 'at once' || end !== 'registered' ? end : { task: order.name };
      },
      task: async () => (registry.end === 'running' ? { status: 'running', percentage: null } : { status: 'failed', reason: 'reserved' }),
    }),
  });
  const panel = open(await start(service));
  const click = () => registerDomain(panel, { service: '5001', name: 'panel-customer.net', contact: CONTACT });
  for (let clicks = 0; clicks < 2; clicks++) expect(await click()).toMatchObject({ status: 'PENDING' });
  registry.end = 'failed';
  await service.advance(3_600_000);
  await expect.poll(() => panel.reseller.domain.list()).toEqual([]);
  registry.end = 'at once';
  expect(await click()).toMatchObject({ status: 'LOCK' });
  const { positions } = await panel.reseller.accounting.currentInvoice();
  expect(positions.domains?.['panel-customer.net']).toHaveLength(1);
});

test('says that the VM of an order is gone, and sells another one after the end of the order', async () => {
  const setting = await start();
  const panel = open(setting);
  const { vmid } = await createServer(panel, '4711', 'small');
  await setting.service.operate('DELETE', `/vms/${vmid}`);
  await expect(createServer(panel, '4711', 'small')).rejects.toThrow(
    `The VM ${vmid} of the order 4711 no longer exists. Terminate the order, then order again.`,
  );
  await terminate(panel, '4711');
  await createServer(panel, '4711', 'small');
  expect(await vmsOf(setting)).toHaveLength(1);
});

test('transfers a domain after a wrong auth code, and sells a domain again that has left the account', async () => {
  const setting = await start();
  const panel = open(setting);
  await expect(
    registerDomain(panel, { service: '5001', name: 'moves.net', contact: CONTACT, authcode: 'wrong-code-1' }),
  ).rejects.toMatchObject({ status: 422 });
  await registerDomain(panel, { service: '5001', name: 'moves.net', contact: CONTACT, authcode: 'example-authcode-1' });
  await cancel(panel, 'moves.net');
  await cancel(panel, 'moves.net');
  expect(await domainArea(panel, 'moves.net')).toMatchObject({ cancelled: true });
  await setting.service.advance(366 * DAY_MS);
  expect(await setting.reseller.domain.list()).toEqual([]);
  expect(await registerDomain(panel, { service: '5001', name: 'moves.net', contact: CONTACT })).toMatchObject({ cancelled: false });
  await expect(registerDomain(panel, { service: '5001', name: 'moves.xyz', contact: CONTACT })).rejects.toThrow(
    'The TLD xyz does not exist. Choose com, de, net.',
  );
});

test('renews a domain for one year for eight concurrent clicks through connections that break, and for eight that are killed', async () => {
  const setting = await start();
  const { expires } = await registerDomain(open(setting), { service: '5001', name: 'panel-customer.net', contact: CONTACT });
  const day = expires.slice(0, 10);
  const path = '/domain/panel-customer.net/renew';
  const click = { words: ['renew', 'panel-customer.net', day], path };
  for (let count = 0; count < 7; count++) await killClick(setting, click, { kind: 'hang', when: 'before' });
  await killClick(setting, click, { kind: 'hang', when: 'after' });
  const renewed = expires.replace('2027', '2028');
  await expect.poll(async () => (await domainArea(open(setting), 'panel-customer.net')).expires).toBe(renewed);
  setting.proxy.plan(...LOSSES, ...LOSSES);
  await Promise.allSettled(Array.from({ length: 8 }, () => renewDomain(open(setting), 'panel-customer.net', renewed.slice(0, 10))));
  for (const expiry of [day, renewed.slice(0, 10)]) await renewDomain(open(setting), 'panel-customer.net', expiry);
  const { positions } = await setting.reseller.accounting.currentInvoice();
  expect(positions.domains?.['panel-customer.net']?.map(({ type }) => type)).toEqual(['CREATE', 'RENEW', 'RENEW']);
});

/** One purchase of the domain is billed, and one handle has the contact data. */
async function expectOneDomain({ reseller }: Setting): Promise<void> {
  expect(await reseller.domain.list()).toEqual(['panel-customer.net']);
  const { positions } = await reseller.accounting.currentInvoice();
  expect(positions.domains?.['panel-customer.net']).toHaveLength(1);
  const handles = await reseller.domain.handle.list();
  expect(handles.filter(({ email }) => email === CONTACT.email)).toHaveLength(1);
}

/** Sets the price of a core from now on. */
async function setCorePrice({ service }: Setting, core: string): Promise<void> {
  // Prices with the same date would replace each other.
  await service.advance(1_000);
  const { prices }: { prices: object } = Object(await service.operate('GET', '/host-systems/nl_ryzen'));
  await service.operate('POST', '/host-systems/nl_ryzen/price-versions', { prices: { ...prices, core } });
}

/** The key of an order is forgotten after a day. */
function letADayPass(): void {
  vi.setSystemTime(Date.now() + DAY_MS);
  onTestFinished(() => void vi.useRealTimers());
}

/** A command of the panel, and the path of its purchase. */
interface Click {
  readonly words: readonly string[];
  readonly path: string;
}

/** A click in a process that is killed after it has sent the purchase. `fates` are those of its attempts. */
async function killClick(setting: Setting, { words, path }: Click, ...fates: readonly Fate[]): Promise<void> {
  const { proxy } = setting;
  proxy.plan(...fates);
  const sent = proxy.count(path) + fates.length;
  const { child } = command(setting, ...words);
  const ended = once(child, 'exit');
  await vi.waitUntil(() => proxy.count(path) >= sent, { timeout: 300_000 });
  child.kill('SIGKILL');
  expect(await ended).toEqual([null, 'SIGKILL']);
  proxy.plan();
}

interface Running {
  readonly child: ReturnType<typeof spawn>;
  /** Its output, after its end. */
  readonly output: Promise<string>;
}

function command({ service, proxy, file }: Setting, ...argv: readonly string[]): Running {
  const child = spawn(process.execPath, [join(import.meta.dirname, '../src/main.ts'), ...argv], {
    env: { ...process.env, RESELLER_URL: proxy.baseUrl, RESELLER_API_KEY: service.apiKey, PANEL_DATABASE: file },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return { child, output: Promise.all([text(child.stdout), once(child, 'exit')]).then(([printed]) => printed) };
}
