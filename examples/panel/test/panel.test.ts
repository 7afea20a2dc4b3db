/** The panel against the real service, through connections that break, and in processes that are killed. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

import { createReseller, ResellerError } from '@reseller/client/extension';
import type { Reseller } from '@reseller/client/extension';
import { createTestService } from '@reseller/testing';
import type { TestService } from '@reseller/testing';
import { expect, onTestFinished, test, vi } from 'vitest';

import { startProxy } from '../../../packages/testing/test/client/proxy.ts';
import type { Fate, Proxy } from '../../../packages/testing/test/client/proxy.ts';
import { createPanel } from '../src/panel.ts';
import type { Panel } from '../src/panel.ts';
import { openServices } from '../src/services.ts';

const DAY_MS = 86_400_000;

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

async function start(): Promise<Setting> {
  const service = await createTestService();
  onTestFinished(() => service.close());
  const baseUrl = await service.listen();
  const proxy = await startProxy(baseUrl);
  onTestFinished(() => proxy.close());
  const folder = mkdtempSync(join(tmpdir(), 'panel-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return { service, baseUrl, proxy, file: join(folder, 'panel.sqlite'), reseller: createReseller({ baseUrl, apiKey: service.apiKey }) };
}

/** A panel with its own client and its own connection to the database, like a separate process. */
function open({ service, proxy, file }: Setting): Panel {
  const services = openServices(file);
  onTestFinished(() => services.close());
  return createPanel(createReseller({ baseUrl: proxy.baseUrl, apiKey: service.apiKey, timeoutMs: 2_000 }), services);
}

const vmsOf = async ({ reseller }: Setting) => (await reseller.vm.list()).list;

const LOSSES: readonly Fate[] = [
  { kind: 'reset', when: 'before' },
  { kind: 'reset', when: 'after' },
  { kind: 'cut' },
  { kind: 'hang', when: 'before' },
  { kind: 'hang', when: 'after' },
];

test('sells a VM, suspends it, changes its package and terminates it', async () => {
  const setting = await start();
  const panel = open(setting);
  const { vmid, address, username, password } = await panel.create(4711, 'small');
  expect({ username, password }).toEqual({ username: 'root', password: expect.any(String) });
  expect(await panel.clientArea(4711)).toMatchObject({ package: 'small', state: 'active', vm: { status: 'running', address } });

  await panel.suspend(4711);
  await panel.suspend(4711);
  expect(await panel.clientArea(4711)).toMatchObject({ state: 'suspended', vm: { status: 'stopped' } });
  await panel.unsuspend(4711);
  expect(await panel.clientArea(4711)).toMatchObject({ state: 'active', vm: { status: 'running' } });

  await expect(panel.changePackage(4711, 'huge')).rejects.toThrow('The package huge does not exist. Choose small, medium, large.');
  await panel.changePackage(4711, 'large');
  expect((await vmsOf(setting))[0]).toMatchObject({ vmid, config: { cores: 4, mem: 8192, disk: 80 } });
  expect(await panel.clientArea(4711)).toMatchObject({ package: 'large' });
  expect(await panel.newPassword(4711)).not.toBe(password);

  await panel.terminate(4711);
  await panel.terminate(4711);
  expect(await vmsOf(setting)).toEqual([]);
  expect(await panel.clientArea(4711)).toEqual({ package: 'large', state: 'terminated', vm: null });
  await expect(panel.suspend(4711)).rejects.toThrow('The service 4711 is terminated and has no VM.');

  // A customer who comes back gets a new VM.
  await panel.create(4711, 'small');
  expect(await vmsOf(setting)).toHaveLength(1);
});

test('refuses to sell while prices are above those of the packages, and keeps the package and the price of a sold VM', async () => {
  const setting = await start();
  const panel = open(setting);
  const { vmid } = await panel.create(4711, 'small');
  const sold = await setting.reseller.vm.config(vmid);

  await setCorePrice(setting, '2.01');
  const tooExpensive = { status: 412, message: expect.stringContaining('max_price') };
  await expect(panel.create(4712, 'small')).rejects.toMatchObject(tooExpensive);
  await expect(panel.changePackage(4711, 'large')).rejects.toMatchObject(tooExpensive);
  expect(await panel.clientArea(4711)).toMatchObject({ package: 'small', state: 'active', vm: { status: 'running' } });
  expect(await panel.clientArea(4712)).toEqual({ package: 'small', state: 'ordered', vm: null });
  expect(await setting.reseller.vm.config(vmid)).toEqual(sold);
  expect(await vmsOf(setting)).toHaveLength(1);

  // The next click on the same order buys the VM.
  await setCorePrice(setting, '2.00');
  await panel.create(4712, 'small');
  expect(await panel.changeCost(4711, 'large')).toEqual({ net: 20.8, gross: 24.75 });
  await panel.changePackage(4711, 'large');
  expect(await setting.reseller.vm.config(vmid)).toMatchObject({ pricings: { monthly: 20.8, monthly_gross: 24.75 } });
  expect((await vmsOf(setting)).map(({ config }) => config.cores).toSorted()).toEqual([1, 4]);
});

test.each([LOSSES, LOSSES.toReversed()])('buys one VM for eight concurrent clicks through connections that break', async (...losses) => {
  const setting = await start();
  setting.proxy.plan(...losses, ...losses);
  const clicks = await Promise.allSettled(Array.from({ length: 8 }, () => open(setting).create(4711, 'small')));
  const { vmid } = await open(setting).create(4711, 'small');
  expect((await vmsOf(setting)).map((vm) => vm.vmid)).toEqual([vmid]);
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
    await killClick(setting, ...(loss.kind === 'hang' ? [loss] : [loss, hang]));
  }
  const { output } = command(setting, 'create', '4711', 'small');
  expect(await output).toMatch(/^VM \d{5} at /);
  expect(await vmsOf(setting)).toHaveLength(1);
});

test('leaves no VM if an order is terminated while its VM is being created', async () => {
  const setting = await start();
  setting.proxy.plan({ kind: 'hang', when: 'after' });
  const click = open(setting)
    .create(4711, 'small')
    .catch((error: unknown) => error);
  await expect.poll(() => vmsOf(setting)).toHaveLength(1);
  await open(setting).terminate(4711);
  expect(await click).toEqual(new Error('The service 4711 was terminated while its VM was being created. The VM was deleted.'));
  expect(await vmsOf(setting)).toEqual([]);
});

test('finds the VM of an order that is a day old, and buys no other', async () => {
  const setting = await start();
  await killClick(setting, { kind: 'hang', when: 'after' });
  await expect.poll(() => vmsOf(setting)).toHaveLength(1);
  const [vm] = await vmsOf(setting);
  letADayPass();
  expect(await open(setting).create(4711, 'small')).toMatchObject({ vmid: vm?.vmid, password: undefined });
  expect(await vmsOf(setting)).toHaveLength(1);
});

test('does not carry out an order that is a day old and bought nothing, and accepts a new order of the service', async () => {
  const setting = await start();
  await killClick(setting, { kind: 'hang', when: 'before' });
  letADayPass();
  const panel = open(setting);
  await expect(panel.create(4711, 'small')).rejects.toThrow('is too old, and bought nothing. Terminate the service, then create it again.');
  expect(await vmsOf(setting)).toEqual([]);
  await panel.terminate(4711);
  await panel.create(4711, 'small');
  expect(await vmsOf(setting)).toHaveLength(1);
});

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

/** A click in a process that is killed after it has sent the purchase. `fates` are those of its attempts. */
async function killClick(setting: Setting, ...fates: readonly Fate[]): Promise<void> {
  const { proxy } = setting;
  proxy.plan(...fates);
  const sent = proxy.count('/vm/create') + fates.length;
  const { child } = command(setting, 'create', '4711', 'small');
  const ended = once(child, 'exit');
  await vi.waitUntil(() => proxy.count('/vm/create') >= sent, { timeout: 30_000 });
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
