import * as operator from '@reseller/operator-client';
import type { ScheduleHostSystemPricesRequest } from '@reseller/operator-client';
import { expect, test } from 'vitest';

import { engines } from '../../../test/engines.ts';
import type { Engine } from '../../../test/engines.ts';
import { SMALL_VM } from '../../../test/harness.ts';
import { expectInvariants } from '../../../test/invariants.ts';
import { refusalOf, startOperator } from '../../../test/operator.ts';
import type { TestOperator } from '../../../test/operator.ts';
import { TestHypervisor } from '../../../test/ports/hypervisor.ts';
import { invoicesOf, providerOf } from '../../../test/provider.ts';

/** 2 cores, 4 GB and 40 GB of NVMe cost 2 * 2.00 + 4 * 1.20 + 40 * 0.04 = 10.40 EUR. Each EUR more for a core makes it 2.00 EUR more. */
const path = { hostsystem: SMALL_VM.hostsystem };
const DECEMBER = '2026-12-01T00:00:00.000Z';
const JANUARY = '2027-01-01T00:00:00.000Z';
const FEBRUARY = '2027-02-01T00:00:00.000Z';

async function start(engine: Engine, given: Parameters<typeof startOperator>[0] = {}) {
  const service = await startOperator({ engine, ...given });
  const { client, call } = service;
  const { prices } = await operator.getHostSystem({ client, path });
  const schedule = (core: string, rest: Partial<ScheduleHostSystemPricesRequest> = {}) =>
    operator.scheduleHostSystemPrices({ client, path, body: { prices: { ...prices, core }, ...rest } });
  return {
    service,
    prices,
    schedule,
    list: async () => (await operator.listHostSystemPriceVersions({ client, path })).items,
    withdraw: (valid_from: string) => operator.withdrawHostSystemPrices({ client, path: { ...path, valid_from } }),
    buy: async (form: Readonly<Record<string, unknown>> = {}): Promise<string> => {
      const { status, body } = await call('createVm', { form: { ...SMALL_VM, ...form } });
      expect(status).toBe(200);
      return String(body.data.identifier);
    },
    priceOf: async (vmid: string): Promise<number> => (await call('getVmConfig', { path: { vmid } })).body.data.pricings.monthly,
    /** The price of a core in each list of the reseller API and the operator API. */
    listed: async () => {
      const [hosts, pricings] = [(await call('listVmHosts')).body.data, (await call('getPricings')).body.data];
      const { price_net: inHosts } = hosts.find(({ name }: { name: string }) => name === path.hostsystem).prices.core;
      const inDefinition = (await operator.getHostSystem({ client, path })).prices.core;
      return new Set([inHosts, pricings.kvm[path.hostsystem].core.price_net, inDefinition]);
    },
    change: (vmid: string, form: Readonly<Record<string, unknown>>) => call('changeVm', { path: { vmid }, form }),
  };
}

/** The monthly prices of the positions of a VM on the invoice of the period that ended at an instant, with their types. */
async function invoicedPrices(service: TestOperator, created: string, vmid: string): Promise<string[]> {
  const invoice = (await invoicesOf(service)).find((one) => one.created === created);
  const { positions } = (await service.call('getInvoice', { path: { invoiceID: invoice?.id ?? '' } })).body.data;
  return positions.vms[vmid].map(({ type, monthlyPrice }: { type: string; monthlyPrice: number }) => `${type} ${monthlyPrice}`);
}

test.each(engines)('applies scheduled prices from their millisecond on, in every list and to every purchase, on %s', async (engine) => {
  const { service, schedule, listed, buy, priceOf, change } = await start(engine);
  const { clock, call } = service;
  const validFrom = clock.now() + 86_400_000;
  expect(await schedule('3.00', { valid_from: new Date(validFrom).toISOString() })).toMatchObject({
    state: 'scheduled',
    applies_to: 'new_purchases',
  });
  const running = await buy();
  clock.advance(86_400_000 - 1);
  expect(await listed()).toEqual(new Set(['2.00']));
  const last = await buy({ max_price: '10.40' });
  clock.advance(1);
  expect(await listed()).toEqual(new Set(['3.00']));
  expect(await call('createVm', { form: { ...SMALL_VM, max_price: '12.39' } })).toMatchObject({ status: 412 });
  const first = await buy({ max_price: '12.40' });
  expect([await priceOf(running), await priceOf(last), await priceOf(first)]).toEqual([10.4, 10.4, 12.4]);

  // A resize uses the prices in force, and so does its price guard.
  expect(await change(running, { backup_slots: 3, max_price: '12.89' })).toMatchObject({ status: 412 });
  expect((await change(running, { backup_slots: 3, max_price: '12.90' })).body.data.pricings.monthly).toBe(12.9);

  // The running VM keeps its price.
  const estimate = (await call('getCurrentInvoice')).body.data.estimatedInvoiceTotal;
  clock.advanceTo(JANUARY);
  expect(await priceOf(last)).toBe(10.4);
  expect((await invoicesOf(service)).find(({ created }) => created === DECEMBER)?.total).toBe(estimate);
  expect(await invoicedPrices(service, JANUARY, last)).toEqual(['BILLINGRESTART 10.4']);
  await expectInvariants(service.store);
});

test.each(engines)('applies prices for all VMs from the first month that starts at their instant or later, on %s', async (engine) => {
  const { service, schedule, buy, priceOf, change } = await start(engine);
  const { clock, call } = service;
  const [running, stopped, resized] = [await buy(), await buy(), await buy()];
  const inSale = await providerOf(service).createSale({ upgradable: false, maxVolume: 2 });
  const [sold, upgraded] = [await buy(), await buy()];
  expect(inSale).not.toBe('');
  await schedule('3.00', { valid_from: '2026-11-20T00:00:00Z', applies_to: 'all_vms' });
  await schedule('4.00', { valid_from: '2026-11-21T00:00:00Z' });
  await schedule('5.00', { valid_from: JANUARY, applies_to: 'all_vms' });
  await schedule('6.00', { valid_from: '2027-01-01T00:00:00.001Z', applies_to: 'all_vms' });

  clock.advanceTo('2026-11-25T00:00:00Z');
  await call('setVmPower', { path: { vmid: stopped }, form: { mode: 'stop' } });
  const newest = await buy();
  expect((await change(resized, { backup_slots: 3 })).body.data.pricings.monthly).toBe(14.9);
  expect((await change(upgraded, { backup_slots: 3 })).body.data.pricings.monthly).toBe(14.9);
  const all = [running, stopped, resized, sold, upgraded, newest];
  const prices = () => Promise.all(all.map(priceOf));
  expect(await prices()).toEqual([10.4, 10.4, 14.9, 4.4, 14.9, 14.4]);

  // Prices that are newer than those for all VMs stay. Those of a sale stay, too.
  clock.advanceTo('2026-11-30T23:59:59.999Z');
  expect(await priceOf(running)).toBe(10.4);
  const { estimatedInvoiceTotal } = (await call('getCurrentInvoice')).body.data;
  clock.advanceTo(DECEMBER);
  expect(await prices()).toEqual([12.4, 12.4, 14.9, 4.4, 14.9, 14.4]);
  expect((await invoicesOf(service))[0]?.total).toBe(estimatedInvoiceTotal);
  expect(await invoicedPrices(service, DECEMBER, running)).toEqual(['CREATE 10.4']);
  clock.advanceTo('2026-12-05T00:00:00Z');
  await call('setVmPower', { path: { vmid: stopped }, form: { mode: 'start' } });

  clock.advanceTo(JANUARY);
  expect(await prices()).toEqual([16.4, 16.4, 16.9, 4.4, 16.9, 16.4]);
  expect(await invoicedPrices(service, JANUARY, running)).toEqual(['BILLINGRESTART 12.4']);
  expect(await invoicedPrices(service, JANUARY, stopped)).toEqual(['BILLINGRESTART 12.4']);
  // A restart within the month keeps its price.
  clock.advanceTo('2027-01-10T00:00:00Z');
  await call('setVmPower', { path: { vmid: running }, form: { mode: 'stop' } });
  await call('setVmPower', { path: { vmid: running }, form: { mode: 'start' } });
  expect(await priceOf(running)).toBe(16.4);

  clock.advanceTo(FEBRUARY);
  expect(await prices()).toEqual([18.4, 18.4, 18.9, 4.4, 18.9, 18.4]);
  expect(new Set(await invoicedPrices(service, FEBRUARY, running))).toEqual(new Set(['BILLINGRESTART 16.4']));
  // 28 days of February at 97.40 EUR for 30 days.
  expect((await call('getCurrentInvoice')).body.data.estimatedInvoiceTotal).toBe(Math.round((97.4 * 28 * 100) / 30) / 100);
  await expectInvariants(service.store);
});

test.each(engines)('applies the prices of each month that ended while no service ran, in order, on %s', async (engine) => {
  const { service, schedule, buy } = await start(engine);
  const running = await buy();
  await schedule('3.00', { valid_from: DECEMBER, applies_to: 'all_vms' });
  await schedule('1.00', { valid_from: '2026-12-15T00:00:00Z', applies_to: 'all_vms' });
  service.clock.advanceTo(FEBRUARY);
  await service.runScheduledJobs();
  expect(await invoicedPrices(service, DECEMBER, running)).toEqual(['CREATE 10.4']);
  expect(await invoicedPrices(service, JANUARY, running)).toEqual(['BILLINGRESTART 12.4']);
  expect(await invoicedPrices(service, FEBRUARY, running)).toEqual(['BILLINGRESTART 8.4']);
  await expectInvariants(service.store);
});

test.each(engines)('bills a VM that starts while the month ends at the price of the new month, on %s', async (engine) => {
  const during: { work?: () => Promise<unknown> } = {};
  class Hypervisor extends TestHypervisor {
    override async start(...given: Parameters<TestHypervisor['start']>): Promise<void> {
      await during.work?.();
      await super.start(...given);
    }
  }
  const { service, schedule, buy, priceOf } = await start(engine, { hypervisor: new Hypervisor() });
  const { clock, call } = service;
  const vmid = await buy();
  await schedule('3.00', { valid_from: DECEMBER, applies_to: 'all_vms' });
  clock.advance(1_000);
  await call('setVmPower', { path: { vmid }, form: { mode: 'stop' } });
  during.work = async () => {
    clock.advanceTo(DECEMBER);
    await service.runScheduledJobs();
  };
  expect((await call('setVmPower', { path: { vmid }, form: { mode: 'start' } })).status).toBe(200);
  expect(await priceOf(vmid)).toBe(12.4);
  const { positions } = (await call('getCurrentInvoice')).body.data;
  expect(positions.vms[vmid]).toMatchObject([{ type: 'BILLINGRESTART', start: DECEMBER, monthlyPrice: 12.4 }]);
  await expectInvariants(service.store);
});

/** A service whose hypervisor creates and resizes a VM while the month ends, if the test says so. */
async function startAtMonthEnd(engine: Engine) {
  const during: { work?: (() => Promise<unknown>) | undefined } = {};
  class Hypervisor extends TestHypervisor {
    override async create(...given: Parameters<TestHypervisor['create']>) {
      await during.work?.();
      return super.create(...given);
    }
    override async resize(...given: Parameters<TestHypervisor['resize']>): Promise<void> {
      await during.work?.();
      return super.resize(...given);
    }
  }
  const started = await start(engine, { hypervisor: new Hypervisor() });
  const { clock, runScheduledJobs } = started.service;
  return {
    ...started,
    async whileMonthEnds<T>(deliver: () => Promise<T>): Promise<T> {
      during.work = async () => {
        during.work = undefined;
        clock.advanceTo(DECEMBER);
        await runScheduledJobs();
      };
      return deliver();
    },
  };
}

test.each(engines)('a resize that is delivered while the month ends has the prices of all VMs in the new month, on %s', async (engine) => {
  const { service, schedule, buy, priceOf, change, whileMonthEnds } = await startAtMonthEnd(engine);
  const vmid = await buy();
  await schedule('3.00', { valid_from: DECEMBER, applies_to: 'all_vms' });
  const resized = await whileMonthEnds(() => change(vmid, { backup_slots: 3, max_price: '10.90' }));
  expect(resized.body.data.pricings.monthly).toBe(12.9);
  expect(await priceOf(vmid)).toBe(12.9);
  service.clock.advanceTo(JANUARY);
  expect(await priceOf(vmid)).toBe(12.9);
  expect(await invoicedPrices(service, JANUARY, vmid)).toEqual(['UP-DOWNGRADE 12.9']);
  await expectInvariants(service.store);
});

test.each(engines)('a VM that is created while the month ends has the prices of all VMs in the new month, on %s', async (engine) => {
  const { service, schedule, buy, priceOf, whileMonthEnds } = await startAtMonthEnd(engine);
  await schedule('3.00', { valid_from: DECEMBER, applies_to: 'all_vms' });
  service.clock.advanceTo('2026-11-30T23:59:57Z');
  const vmid = await whileMonthEnds(buy);
  expect(await priceOf(vmid)).toBe(12.4);
  service.clock.advanceTo(JANUARY);
  expect(await invoicedPrices(service, JANUARY, vmid)).toEqual(['CREATE 12.4']);
  await expectInvariants(service.store);
});

test.each(engines)(
  'both VMs of an address that moves while the month ends have the prices of all VMs in the new month, on %s',
  async (engine) => {
    const { service, schedule, buy, priceOf, whileMonthEnds } = await startAtMonthEnd(engine);
    const [from, to] = [await buy({ ips: 2 }), await buy()];
    await schedule('3.00', { valid_from: DECEMBER, applies_to: 'all_vms' });
    const { list } = (await service.call('listIps')).body.data;
    const { ip_address } = list.find(({ first }: { first: boolean }) => !first);
    const before = [await priceOf(from), await priceOf(to)];
    const moved = await whileMonthEnds(() => service.call('assignIp', { path: { ip_address }, form: { vmid: to } }));
    expect(moved.status).toBe(200);
    // Two cores at 3.00 in the place of 2.00, and the price of the address changes its VM.
    expect([await priceOf(from), await priceOf(to)]).toEqual([Number(before[1]) + 2, Number(before[0]) + 2]);
    await expectInvariants(service.store);
  },
);

test.each(engines)('prices for new purchases change neither while a month ends, on %s', async (engine) => {
  const { service, schedule, buy, priceOf, change, whileMonthEnds } = await startAtMonthEnd(engine);
  await schedule('3.00', { valid_from: DECEMBER, applies_to: 'new_purchases' });
  service.clock.advanceTo('2026-11-30T23:59:57Z');
  const changed = await buy();
  await whileMonthEnds(() => change(changed, { backup_slots: 3 }));
  expect(await priceOf(changed)).toBe(10.9);
  await expectInvariants(service.store);
});

test.each(engines)('withdraws scheduled prices until they are in force, and records each change in the audit, on %s', async (engine) => {
  const { service, schedule, withdraw, list, listed, buy, priceOf } = await start(engine);
  const { client, clock } = service;
  const scheduled = await schedule('3.00', { valid_from: DECEMBER, applies_to: 'all_vms' });
  expect((await list()).map(({ state, valid_from }) => [state, valid_from])).toEqual([
    ['scheduled', DECEMBER],
    ['in_force', '1970-01-01T00:00:00.000Z'],
  ]);
  const vmid = await buy();
  clock.advanceTo('2026-11-30T23:59:59.999Z');
  await withdraw('2026-12-01T01:00:00+01:00');
  expect(await refusalOf(withdraw(DECEMBER))).toMatchObject({ status: 404 });
  clock.advanceTo(JANUARY);
  expect(await listed()).toEqual(new Set(['2.00']));
  expect(await priceOf(vmid)).toBe(10.4);
  const { items } = await operator.listAuditRecords({ client, query: { target: path.hostsystem } });
  expect(items.map(({ operation, before, after }) => ({ operation, before, after }))).toEqual([
    { operation: 'withdrawHostSystemPrices', before: scheduled, after: null },
    { operation: 'scheduleHostSystemPrices', before: null, after: scheduled },
  ]);

  const now = await schedule('4.00');
  expect(now).toMatchObject({ state: 'in_force', valid_from: JANUARY, applies_to: 'new_purchases' });
  expect(await refusalOf(withdraw(JANUARY))).toMatchObject({ status: 409, message: expect.stringContaining('schedule other prices') });
  clock.advance(1);
  await schedule('5.00');
  expect((await list()).map(({ state, prices }) => [state, prices.core])).toEqual([
    ['in_force', '5.00'],
    ['past', '4.00'],
    ['past', '2.00'],
  ]);
  expect(await refusalOf(withdraw(JANUARY))).toMatchObject({ status: 409 });
});

test('refuses prices with a past or duplicate date or for an unknown host system, and changes nothing', async () => {
  const { service, schedule, list, withdraw, prices } = await start('sqlite');
  const { client, clock } = service;
  const at = (offset: number): string => new Date(clock.now() + offset).toISOString();
  await schedule('3.00', { valid_from: at(1) });
  const before = await list();
  expect(await refusalOf(schedule('4.00', { valid_from: at(-1) }))).toMatchObject({
    status: 422,
    fields: [{ field: '#/valid_from', message: `must not be in the past: it is ${at(0)}. Leave it out for prices from now on` }],
  });
  expect(await refusalOf(schedule('4.00', { valid_from: at(1).replace('Z', '+00:00') }))).toMatchObject({
    status: 409,
    message: expect.stringContaining(`already has prices from ${at(1)} on`),
  });
  expect(await refusalOf(schedule('4,00'))).toMatchObject({ status: 422, fields: [{ field: '#/prices/core' }] });
  const unknown = { hostsystem: 'mars' };
  expect(await refusalOf(operator.scheduleHostSystemPrices({ client, path: unknown, body: { prices } }))).toMatchObject({ status: 404 });
  expect(await refusalOf(operator.listHostSystemPriceVersions({ client, path: unknown }))).toMatchObject({ status: 404 });
  expect(await refusalOf(withdraw(at(2)))).toMatchObject({ status: 404 });
  expect(await list()).toEqual(before);
});

test('lists prices in pages, newest first', async () => {
  const { service, schedule } = await start('sqlite');
  const { client } = service;
  for (const valid_from of [FEBRUARY, DECEMBER, JANUARY]) await schedule('3.00', { valid_from });
  const seen: string[] = [];
  let cursor: string | null | undefined;
  do {
    const page = await operator.listHostSystemPriceVersions({ client, path, query: { limit: 1, ...(cursor ? { cursor } : {}) } });
    seen.push(...page.items.map(({ valid_from }) => valid_from));
    cursor = page.next_cursor;
  } while (cursor !== null);
  expect(seen).toEqual([FEBRUARY, JANUARY, DECEMBER, '1970-01-01T00:00:00.000Z']);
});

test('sets the prices in force with a host system, keeps scheduled ones, and adds none if the prices are the same', async () => {
  const { service, schedule, list, listed } = await start('sqlite');
  const { client, clock } = service;
  await schedule('3.00', { valid_from: DECEMBER });
  const define = async (core: string) => {
    const { name: _, nodes, prices, ...host } = await operator.getHostSystem({ client, path });
    const bare = nodes.map(({ name, cores, mem, disk, storage }) => ({ name, cores, mem, disk, storage }));
    return operator.defineHostSystem({ client, path, body: { ...host, nodes: bare, prices: { ...prices, core } } });
  };
  await define('2.0');
  expect(await list()).toHaveLength(2);
  expect((await define('2.50')).prices.core).toBe('2.50');
  expect((await define('2.60')).prices.core).toBe('2.60');
  expect((await list()).map(({ state, prices, valid_from, applies_to }) => [state, prices.core, valid_from, applies_to])).toEqual([
    ['scheduled', '3.00', DECEMBER, 'new_purchases'],
    ['in_force', '2.60', new Date(clock.now()).toISOString(), 'new_purchases'],
    ['past', '2.00', '1970-01-01T00:00:00.000Z', 'new_purchases'],
  ]);
  clock.advanceTo(DECEMBER);
  expect(await listed()).toEqual(new Set(['3.00']));
});

test('compares a sale with the list prices at its start', async () => {
  const { service, schedule } = await start('sqlite');
  const { client } = service;
  await schedule('1.50', { valid_from: DECEMBER });
  const create = (start_date: string) =>
    operator.createSale({
      client,
      body: { title: 'Winter', upgradable: true, max_volume: 1, start_date, pricings: { nl_ryzen: { core: '1.60' } } },
    });
  expect(await create('2026-11-30T23:59:59.999Z')).toMatchObject({ state: 'scheduled' });
  expect(await refusalOf(create(DECEMBER))).toMatchObject({
    fields: [{ field: '#/pricings/nl_ryzen/core', message: 'must be at most 1.50, the list price' }],
  });
});
