/** Quotes: each billable operation has one, it changes nothing, and it says what the purchase then costs. */
import type { Quote } from '@reseller/client/extension';
import * as operator from '@reseller/operator-client';
import { expect, test } from 'vitest';

import { contentsOf } from '../../test/contents.ts';
import { marketItem, RYZEN } from '../../test/dedicated.ts';
import { handleOf, PHONE, register } from '../../test/domains.ts';
import { engines } from '../../test/engines.ts';
import { goodCall } from '../../test/good-calls.ts';
import { SMALL_VM, startService } from '../../test/harness.ts';
import type { TestService } from '../../test/harness.ts';
import type { Sent } from '../../test/http-client.ts';
import { operatorApi } from '../../test/http-client.ts';
import { startOperator } from '../../test/operator.ts';
import { providerOf } from '../../test/provider.ts';
import { apiOperations } from '../http/reseller/api.ts';
import { euros } from '../rules/money.ts';
import type { OperationId } from './operation.ts';

/** The quote of each billable operation, by the rule of the document: its path followed by `/quote`. */
const quotes = apiOperations
  .filter(({ operation }) => operation.billable)
  .map(({ id, operation }) => [id, apiOperations.find((other) => other.operation.path === `${operation.path}/quote`)?.id] as const);

/** Billable operations without a quote, and why. */
const WITHOUT_QUOTE: Readonly<Record<string, string>> = {
  orderDedicatedServer: 'An operator sees the price of the offer in GET /dedicated/market, and orders for an account.',
};

test('each billable operation of both documents has a quote or a reason for not having one', () => {
  expect(quotes.map(([id, quote]) => [id, quote !== undefined])).toEqual(quotes.map(([id]) => [id, true]));
  expect(quotes.length).toBeGreaterThanOrEqual(6);
  const ofOperators = operatorApi.operations.filter(({ billable }) => billable).map(({ id }) => id);
  expect(ofOperators).toEqual(Object.keys(WITHOUT_QUOTE));
});

test.each(quotes.flatMap(([id, quote]) => (quote === undefined ? [] : [[id, quote] as const])))(
  '%s: %s takes the same request and changes nothing',
  async (id, quote) => {
    const service = await startService();
    const owner = await service.account();
    const sent = await goodCall(service, id, owner);
    // Due jobs of the account are performed here.
    await service.call('listInvoices', { apiKey: owner.apiKey });
    const before = await contentsOf(service);
    const { status, body } = await service.call(quote, sent);
    expect({ status, message: body.message }).toEqual({ status: 200, message: 'The price was computed. Nothing was bought.' });
    expect(await contentsOf(service)).toEqual(before);
    const remaining = await remainingCredit(service, owner.apiKey);
    expect((await service.call(id, sent)).status).toBe(200);
    const used = Math.round((remaining - (await remainingCredit(service, owner.apiKey))) * 100);
    const needed = Math.round(body.data.neededCredit * 100);
    // A moved address costs nothing at unchanged prices.
    expect(used).toBe(needed);
  },
);

async function remainingCredit(service: TestService, apiKey: string): Promise<number> {
  return (await service.call('getCredit', { apiKey })).body.data.remaining;
}

async function quoteOf(service: TestService, id: OperationId, sent: Sent): Promise<Quote> {
  const { status, body } = await service.call(id, sent);
  expect({ status, message: body.message }).toMatchObject({ status: 200 });
  return body.data;
}

test('a new VM in a sale has the prices of the sale, and standard prices for the others', async () => {
  const service = await startService();
  await providerOf(service).createSale({ maxVolume: 2, upgradable: false, stop: Date.UTC(2026, 10, 20) });
  await service.call('createVm', { form: SMALL_VM });
  const found = await quoteOf(service, 'quoteCreateVm', { form: { ...SMALL_VM, mem: 1536, ips: 3 } });
  expect(found).toMatchObject({
    // 2 x 1.00 + 1.5 x 0.40 + 40 x 0.02 + 2 x 1.50
    price: { net: 6.4, gross: 7.62, time: { amount: 30, unit: 'days' } },
    parts: [
      { name: 'core', quantity: 2, priceNet: '1.00', net: 2, inSale: true },
      { name: 'mem', quantity: 1.5, priceNet: '0.40', net: 0.6, inSale: true },
      { name: 'nvme', quantity: 40, priceNet: '0.02', net: 0.8, inSale: true },
      { name: 'extra_ip', quantity: 2, priceNet: '1.50', net: 3, inSale: false },
    ],
    sale: { upgradable: false, stopDate: '2026-11-20T00:00:00.000Z', remainingVolume: 1 },
    endedSale: null,
  });
  await service.call('createVm', { form: SMALL_VM });
  expect(await quoteOf(service, 'quoteCreateVm', { form: SMALL_VM })).toMatchObject({ price: { net: 10.4 }, sale: null });
});

test('a change of a VM keeps the prices of an upgradable sale, also after its end, and loses those of another', async () => {
  const service = await startService();
  const provider = providerOf(service);
  const bought = async (upgradable: boolean): Promise<string> => {
    await provider.createSale({ upgradable, maxVolume: 1, pricings: { nl_ryzen: { core: euros('1.00') } } });
    return String((await service.call('createVm', { form: SMALL_VM })).body.data.identifier);
  };
  for (const upgradable of [true, false]) {
    const path = { vmid: await bought(upgradable) };
    const { price, sale, endedSale, parts } = await quoteOf(service, 'quoteChangeVm', { path, form: { mem: 8192 } });
    expect([sale !== null, endedSale !== null, parts[0]?.inSale]).toEqual([upgradable, !upgradable, upgradable]);
    const { pricings } = (await service.call('changeVm', { path, form: { mem: 8192 } })).body.data;
    expect(pricings).toEqual({ monthly: price.net, monthly_gross: price.gross });
    expect(pricings.monthly).toBe(upgradable ? 13.2 : 15.2);
  }
});

test('a change to the present resources costs the present price and needs no credit, and a stopped VM costs nothing', async () => {
  const service = await startService();
  const path = { vmid: String((await service.call('createVm', { form: SMALL_VM })).body.data.identifier) };
  expect(await quoteOf(service, 'quoteChangeVm', { path, form: { cores: 2 } })).toMatchObject({
    price: { net: 10.4 },
    neededCredit: 0,
    parts: [],
  });
  await service.call('setVmPower', { path, form: { mode: 'stop' } });
  expect(await quoteOf(service, 'quoteChangeVm', { path, form: { cores: 8 } })).toMatchObject({
    price: { net: 22.4 },
    untilPeriodEnd: { net: 0, gross: 0 },
    neededCredit: 0,
  });
});

test('a price above max_price, and one above the credit, are quoted', async () => {
  const service = await startService({ creditLimit: '1.00' });
  const { price, neededCredit } = await quoteOf(service, 'quoteCreateVm', { form: { ...SMALL_VM, max_price: '1.00' } });
  expect([price.net, neededCredit]).toEqual([10.4, 7.11]);
});

test.each(engines)(
  'on %s, what a quote says of the period is what its invoice has, also when the VAT rate changes in it',
  async (engine) => {
    const service = await startOperator({ engine });
    const vat_rates = [
      { basis_points: 1900, valid_from: '2007-01-01' },
      { basis_points: 700, valid_from: '2026-11-20' },
    ];
    await operator.setVatRates({ client: service.client, body: { vat_rates } });
    const orders: readonly [OperationId, OperationId, (apiKey: string) => Promise<Sent>][] = [
      ['quoteCreateVm', 'createVm', async () => ({ form: { ...SMALL_VM, mem: 1536 } })],
      [
        'quoteRegisterDomain',
        'registerDomain',
        async (apiKey) => ({ form: { domain: 'quoted.net', handle: await handleOf(service, { apiKey, phone: PHONE }) } }),
      ],
    ];
    const expected = new Map<string, unknown>();
    for (const [quoteId, id, sentBy] of orders) {
      const { apiKey } = await service.account();
      const sent = { ...(await sentBy(apiKey)), apiKey };
      expected.set(apiKey, (await quoteOf(service, quoteId, sent)).untilPeriodEnd);
      expect((await service.call(id, sent)).status).toBe(200);
    }
    service.clock.advanceTo('2026-12-01T00:00:00Z');
    await service.runScheduledJobs();
    for (const [apiKey, amount] of expected) {
      const [{ net, gross }] = (await service.call('listDocuments', { apiKey })).body.data.list;
      expect({ net, gross }).toEqual(amount);
    }
  },
);

test('a server needs its first runtime and the renewals of the month, and a withdrawn cancellation those that are due', async () => {
  const service = await startOperator();
  const { id: identifier } = await operator.addMarketItem({ client: service.client, body: marketItem('10.00', 5) });
  const path = { identifier };
  // 10 November 12:00: the first runtime and the renewals of 15, 20, 25 and 30 November.
  expect(await quoteOf(service, 'quotePurchaseDedicatedServer', { path, form: {} })).toMatchObject({
    price: { net: 10, gross: 11.9, time: { amount: 5, unit: 'days' } },
    untilPeriodEnd: { net: 50, gross: 59.5 },
    neededCredit: 50,
    parts: [{ name: 'runtime', quantity: 1, priceNet: '10.00', net: 10 }],
  });
  await service.call('purchaseDedicatedServer', { path: { identifier: RYZEN }, form: {} });
  const { status, body } = await service.call('quotePurchaseDedicatedServer', { path: { identifier: RYZEN }, form: {} });
  expect({ status, type: body.type }).toEqual({ status: 409, type: 'wrong_state' });
});

test('refuses a form that the purchase would refuse, and the undeletion of what is not cancelled', async () => {
  const service = await startService();
  const handle = await handleOf(service);
  await register(service, 'mine.net');
  const refused = [
    await service.call('quoteCreateVm', { form: { ...SMALL_VM, cores: 17 } }),
    await service.call('quoteRegisterDomain', { form: { domain: 'name.zz', handle } }),
    await service.call('quoteUndeleteDomain', { path: { domain: 'mine.net' } }),
  ];
  expect(refused.map(({ status, body }) => [status, body.type])).toEqual([
    [422, 'validation_failed'],
    [422, 'validation_failed'],
    [409, 'wrong_state'],
  ]);
});
