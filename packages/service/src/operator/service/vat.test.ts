import * as operator from '@reseller/operator-client';
import { describe, expect, test } from 'vitest';

import { deployedServer, EPYC } from '../../../test/dedicated.ts';
import { register } from '../../../test/domains.ts';
import { SMALL_VM } from '../../../test/harness.ts';
import { refusalOf, startOperator } from '../../../test/operator.ts';
import type { TestOperator } from '../../../test/operator.ts';
import { providerOf } from '../../../test/provider.ts';

/** The tests begin on 10 November 2026, just after noon, UTC. */
const OLD = { basis_points: 1900, valid_from: '2007-01-01' };
const dated = (basis_points: number, valid_from: string): operator.VatRateInput => ({ basis_points, valid_from });

test('calculates every gross price with the rate at the time of the response, and that of a scheduled sale with the rate at its start', async () => {
  const service = await startOperator();
  const { client, clock } = service;
  const { apiKey } = await deployedServer(service);
  await providerOf(service).createSale({ start: Date.parse('2026-11-12T00:00:00Z') });
  expect(await grossFactors(service, apiKey)).toEqual({ now: new Set([1.19]), sale: new Set([1.19]) });

  const vat_rates = [OLD, dated(700, '2026-11-11'), dated(10_000, '2026-11-12')];
  const settings = await operator.setVatRates({ client, body: { vat_rates: vat_rates.toReversed() } });
  expect(settings).toMatchObject({ vat_rates, time_zone: 'Europe/Berlin' });
  expect(await grossFactors(service, apiKey)).toEqual({ now: new Set([1.19]), sale: new Set([2]) });
  // Midnight in Berlin.
  clock.advanceTo('2026-11-10T23:00:00Z');
  expect(await grossFactors(service, apiKey)).toEqual({ now: new Set([1.07]), sale: new Set([2]) });
  clock.advanceTo('2026-11-11T22:59:59.999Z');
  expect(await grossFactors(service, apiKey)).toEqual({ now: new Set([1.07]), sale: new Set([2]) });
  clock.advance(1);
  expect(await grossFactors(service, apiKey)).toEqual({ now: new Set([2]), sale: new Set([2]) });
});

test('refuses ambiguous or incomplete rates, and changes nothing', async () => {
  const { client } = await startOperator();
  const set = (...vat_rates: operator.VatRateInput[]) => operator.setVatRates({ client, body: { vat_rates } });
  const before = await operator.getSettings({ client });
  expect(await refusalOf(set(dated(1900, '2026-11-11')))).toMatchObject({ status: 422, fields: [{ field: '#/vat_rates' }] });
  expect(await refusalOf(set(OLD, dated(700, '2027-01-01'), dated(800, '2027-01-01')))).toMatchObject({
    fields: [{ field: '#/vat_rates/2/valid_from', message: 'must not be the same day as that of another rate' }],
  });
  expect(await refusalOf(set(OLD, dated(700, '2027-02-29')))).toMatchObject({
    fields: [{ field: '#/vat_rates/1/valid_from', message: 'must be a date such as 2026-01-31' }],
  });
  expect(await refusalOf(set(dated(10_001, '2026-11-10')))).toMatchObject({
    fields: [{ field: '#/vat_rates/0/basis_points', message: 'must be an integer of at most 10000' }],
  });
  expect(await refusalOf(set())).toMatchObject({ fields: [{ field: '#/vat_rates' }] });
  const time_zone = 'Europe/Nowhere';
  expect(await refusalOf(operator.setVatRates({ client, body: { vat_rates: [OLD], time_zone } }))).toMatchObject({
    fields: [{ field: '#/time_zone' }],
  });
  expect(await operator.getSettings({ client })).toEqual(before);
});

test('a rate begins with its day in the time zone of the provider', async () => {
  const service = await startOperator();
  const { client, clock } = service;
  await register(service, 'first.net');
  await operator.setVatRates({ client, body: { vat_rates: [OLD, dated(700, '2026-11-12')], time_zone: 'America/New_York' } });
  const domainFactor = async () => {
    const { price_net, price_gross } = (await service.call('getDomainPricings')).body.data.net;
    return Math.round((price_gross.create / price_net.create) * 100);
  };
  clock.advanceTo('2026-11-12T04:59:59Z');
  expect(await domainFactor()).toBe(119);
  await register(service, 'second.net');
  clock.advance(1_000);
  expect(await domainFactor()).toBe(107);
  // The second domain was sold after midnight in Berlin.
  const moved = operator.setVatRates({ client, body: { vat_rates: [OLD, dated(700, '2026-11-12')], time_zone: 'Europe/Berlin' } });
  expect(await refusalOf(moved)).toMatchObject({ status: 422, fields: [{ field: '#/vat_rates' }] });
  expect(await operator.getSettings({ client })).toMatchObject({ time_zone: 'America/New_York' });
});

describe('the past', () => {
  const refused = (first: string) => ({
    status: 422,
    fields: [{ field: '#/vat_rates', message: expect.stringContaining(`a new rate can begin on ${first} at the earliest`) }],
  });

  test('before anything is sold, a rate can begin today, but not earlier', async () => {
    const { client } = await startOperator();
    const set = (...vat_rates: operator.VatRateInput[]) => operator.setVatRates({ client, body: { vat_rates } });
    expect(await refusalOf(set(dated(2100, '2026-11-09')))).toMatchObject(refused('2026-11-10'));
    expect((await set(dated(2100, '2026-11-10'))).vat_rates).toEqual([dated(2100, '2026-11-10')]);
    expect((await set(dated(2000, '2026-11-10'))).vat_rates).toEqual([dated(2000, '2026-11-10')]);
  });

  test('after a sale, a rate can begin tomorrow at the earliest, and rates that have begun stay', async () => {
    const service = await startOperator();
    const { client, clock } = service;
    const set = (...vat_rates: operator.VatRateInput[]) => operator.setVatRates({ client, body: { vat_rates } });
    const { identifier } = (await service.call('createVm', { form: SMALL_VM })).body.data;
    for (const day of ['2026-11-10', '2026-11-01', '2025-01-01'])
      expect(await refusalOf(set(OLD, dated(2000, day)))).toMatchObject(refused('2026-11-11'));
    expect(await refusalOf(set(dated(2000, '2007-01-01')))).toMatchObject(refused('2026-11-11'));
    await set(OLD, dated(2000, '2026-11-11'));
    clock.advanceTo('2026-11-11T22:00:00Z');
    // It has begun.
    expect(await refusalOf(set(OLD, dated(2100, '2026-11-11')))).toMatchObject(refused('2026-11-12'));
    expect(await refusalOf(set(OLD))).toMatchObject(refused('2026-11-12'));
    await service.vms.remove(identifier);
    clock.advanceTo('2026-11-13T12:00:00Z');
    // Nothing was sold on this day yet.
    expect(await refusalOf(set(OLD, dated(2000, '2026-11-11'), dated(700, '2026-11-12')))).toMatchObject(refused('2026-11-13'));
    await set(OLD, dated(2000, '2026-11-11'), dated(700, '2026-11-13'));
    await register(service, 'sold.net');
    expect(await refusalOf(set(OLD, dated(2000, '2026-11-11')))).toMatchObject(refused('2026-11-14'));
  });

  test('a rate cannot begin in a period that was invoiced', async () => {
    const service = await startOperator();
    const { client, clock } = service;
    await register(service, 'sold.net');
    // In Berlin, it is 1 December, which began in November of UTC.
    clock.advanceTo('2026-12-01T00:30:00Z');
    await service.runScheduledJobs();
    const set = (day: string) => operator.setVatRates({ client, body: { vat_rates: [OLD, dated(700, day)] } });
    expect(await refusalOf(set('2026-12-01'))).toMatchObject(refused('2026-12-02'));
    await set('2026-12-02');
  });
});

interface Prices {
  readonly price_net: string;
  readonly price_gross: number;
}

/** Gross over net of every response that has both, to the second decimal, since most are whole cents. Those of a sale are separate. */
async function grossFactors(service: TestOperator, apiKey: string): Promise<{ now: Set<number>; sale: Set<number> }> {
  const data = async (...[operation, sent]: Parameters<typeof service.call>) => {
    const { status, body } = await service.call(operation, { ...sent, apiKey });
    expect(status, `${body.message}`).toBe(200);
    return body.data;
  };
  const sales: { title: string; pricings: { value: { nl_ryzen: Record<string, Prices> } } }[] = await data('listSales');
  const nl_ryzen = sales.find(({ title }) => title === 'Ryzen autumn')?.pricings.value.nl_ryzen ?? {};
  const vm = (await data('createVm', { form: { ...SMALL_VM, hostsystem: 'de_epyc' } })).pricings;
  const domains = await data('getDomainPricings');
  const owned = (await data('listDedicatedServers')).list[0].accounting.price;
  const shown = (await data('getDedicatedServer', { path: { identifier: EPYC } })).accounting.price;
  const offered = (await data('listDedicatedMarket')).list[0].price;
  const [host] = await data('listVmHosts');
  const pairs = [
    ...Object.values<Prices>(host.prices).map((one) => [Number(one.price_net), one.price_gross]),
    [vm.monthly, vm.monthly_gross],
    ...['create', 'renew', 'transfer'].map((kind) => [domains.net.price_net[kind], domains.net.price_gross[kind]]),
    [owned.net, owned.gross],
    [shown.net, shown.gross],
    [offered.net, offered.gross],
  ];
  const factorsOf = (prices: readonly (readonly number[])[]) =>
    new Set(prices.map(([net = 0, gross = 0]) => Math.round((gross / net) * 100) / 100));
  return { now: factorsOf(pairs), sale: factorsOf(Object.values(nl_ryzen).map((one) => [Number(one.price_net), one.price_gross])) };
}
