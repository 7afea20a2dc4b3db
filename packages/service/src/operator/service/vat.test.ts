import * as operator from '@reseller/operator-client';
import { expect, test } from 'vitest';

import { deployedServer, EPYC } from '../../../test/dedicated.ts';
import { SMALL_VM } from '../../../test/harness.ts';
import { refusalOf, startOperator } from '../../../test/operator.ts';
import type { TestOperator } from '../../../test/operator.ts';
import { providerOf } from '../../../test/provider.ts';

const DAY = 86_400_000;

test('calculates every gross price with the VAT rate at the time of the response', async () => {
  const service = await startOperator();
  const { client, clock } = service;
  const { apiKey } = await deployedServer(service);
  await providerOf(service).createSale({ start: clock.now() + DAY });
  expect(await grossFactors(service, apiKey)).toEqual(new Set([1.19]));

  const before = { basis_points: 700, valid_from: new Date(clock.now()).toISOString() };
  const after = { basis_points: 10_000, valid_from: new Date(clock.now() + DAY).toISOString() };
  const settings = await operator.setVatRates({ client, body: { vat_rates: [after, before] } });
  expect(settings.vat_rates).toEqual([before, after]);
  expect(await grossFactors(service, apiKey)).toEqual(new Set([1.07]));
  clock.advance(DAY - 1);
  expect(await grossFactors(service, apiKey)).toEqual(new Set([1.07]));
  clock.advance(1);
  expect(await grossFactors(service, apiKey)).toEqual(new Set([2]));
});

test('refuses ambiguous or incomplete rates, and changes nothing', async () => {
  const { client, clock } = await startOperator();
  const at = (offset: number): string => new Date(clock.now() + offset).toISOString();
  const set = (...vat_rates: operator.VatRateInput[]) => operator.setVatRates({ client, body: { vat_rates } });
  const before = await operator.getSettings({ client });
  expect(await refusalOf(set({ basis_points: 1900, valid_from: at(1) }))).toMatchObject({
    status: 422,
    fields: [{ field: '#/vat_rates' }],
  });
  expect(await refusalOf(set({ basis_points: 1900, valid_from: at(0) }, { basis_points: 700, valid_from: at(0) }))).toMatchObject({
    fields: [{ field: '#/vat_rates/1/valid_from' }],
  });
  expect(await refusalOf(set({ basis_points: 10_001, valid_from: at(0) }))).toMatchObject({
    fields: [{ field: '#/vat_rates/0/basis_points', message: 'must be an integer of at most 10000' }],
  });
  expect(await refusalOf(set())).toMatchObject({ fields: [{ field: '#/vat_rates' }] });
  expect(await operator.getSettings({ client })).toEqual(before);
});

interface Prices {
  readonly price_net: string;
  readonly price_gross: number;
}

/** Gross over net of every response that has both, to the second decimal, since most are whole cents. */
async function grossFactors(service: TestOperator, apiKey: string): Promise<Set<number>> {
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
    ...Object.values(nl_ryzen).map((one) => [Number(one.price_net), one.price_gross]),
    [vm.monthly, vm.monthly_gross],
    ...['create', 'renew', 'transfer'].map((kind) => [domains.net.price_net[kind], domains.net.price_gross[kind]]),
    [owned.net, owned.gross],
    [shown.net, shown.gross],
    [offered.net, offered.gross],
  ];
  return new Set(pairs.map(([net = 0, gross = 0]) => Math.round((gross / net) * 100) / 100));
}
