import { expect, test } from 'vitest';

import { SMALL_VM, startService } from '../../../test/harness.ts';
import type { TestService } from '../../../test/harness.ts';
import { expectInvariants } from '../../../test/invariants.ts';
import { providerOf } from '../../../test/provider.ts';
import { euros } from '../../rules/money.ts';

const price = async (service: TestService, form: Readonly<Record<string, unknown>> = SMALL_VM, apiKey = service.apiKey): Promise<number> =>
  (await service.call('createVm', { form, apiKey })).body.data.pricings.monthly;
const volume = async ({ store }: TestService, id: string): Promise<number | undefined> =>
  (await store.read((db) => db.selectFrom('sales').select('used_volume').where('id', '=', id).executeTakeFirst()))?.used_volume;

test('uses the prices of the sale for its resources, and standard prices for the others', async () => {
  const service = await startService();
  const id = await providerOf(service).createSale();
  // 2 x 1.00 + 4 x 0.40 + 40 x 0.02, plus a further address at 1.50 and 500 Mbit, which are included.
  expect(await price(service)).toBe(4.4);
  expect(await price(service, { ...SMALL_VM, ips: 2, network_speed: 500 })).toBe(5.9);
  expect(await volume(service, id)).toBe(2);
  const { data } = (await service.call('getCurrentInvoice')).body;
  const positions: { monthlyPrice: number }[] = Object.values<{ monthlyPrice: number }[]>(data.positions.vms).flat();
  expect(positions.map(({ monthlyPrice }) => monthlyPrice).toSorted()).toEqual([4.4, 5.9]);
  // 10.30 x 1,771,003 / 2,592,000
  expect(data.estimatedInvoiceTotal).toBe(7.04);
  await expectInvariants(service.store);
});

test('uses standard prices for cores and storage in a sale of memory alone', async () => {
  const service = await startService();
  await providerOf(service).createSale({ pricings: { nl_ryzen: { mem: euros('0.45') } } });
  // 2 x 2.00 + 4 x 0.45 + 40 x 0.04
  expect(await price(service)).toBe(7.4);
});

test('uses standard prices before the start and after the end of a sale, on another host system and for another account', async () => {
  const service = await startService();
  const provider = providerOf(service);
  const stranger = await service.account();
  const now = service.clock.now();
  const sales = await Promise.all([
    provider.createSale({ start: now + 60_000, stop: now + 120_000 }),
    provider.createSale({ pricings: { de_epyc: { core: euros('0.10') } } }),
    provider.createSale({ accountId: stranger.id }),
  ]);
  expect(await price(service)).toBe(10.4);
  service.clock.advance(60_000);
  expect(await price(service)).toBe(4.4);
  service.clock.advance(60_000);
  expect(await price(service)).toBe(10.4);
  expect(await Promise.all(sales.map((id) => volume(service, id)))).toEqual([1, 0, 0]);
  expect(await price(service, SMALL_VM, stranger.apiKey)).toBe(4.4);
});

test('uses the best of several sales for the customer, and the next one when it is sold out', async () => {
  const service = await startService();
  const provider = providerOf(service);
  const sale = (core: string, maxVolume: number) => provider.createSale({ maxVolume, pricings: { nl_ryzen: { core: euros(core) } } });
  // A sale at the list price has no benefit and is not used.
  const [good, best, same] = [await sale('1.50', 1), await sale('1.00', 1), await sale('2.00', 9)];
  // 2 x 1.00 + 4.80 + 1.60, then 2 x 1.50, then 2 x 2.00.
  expect([await price(service), await price(service), await price(service)]).toEqual([8.4, 9.4, 10.4]);
  expect([await volume(service, best), await volume(service, good), await volume(service, same)]).toEqual([1, 1, 0]);
});

test('sells exactly 7 of 20 concurrent purchases at the price of a sale with a volume of 7', async () => {
  const service = await startService();
  const id = await providerOf(service).createSale({ maxVolume: 7 });
  const { apiKey } = await service.account();
  const prices = await Promise.all(Array.from({ length: 20 }, (_, index) => price(service, SMALL_VM, index % 2 ? apiKey : service.apiKey)));
  expect(prices.filter((monthly) => monthly === 4.4)).toHaveLength(7);
  expect(prices.filter((monthly) => monthly === 10.4)).toHaveLength(13);
  expect(await volume(service, id)).toBe(7);
  await expectInvariants(service.store);
});

test('returns the volume of a failed purchase', async () => {
  const service = await startService();
  const id = await providerOf(service).createSale({ maxVolume: 1 });
  service.hypervisor.failing = new Error('no route to the node');
  expect((await service.call('createVm', { form: SMALL_VM })).status).toBe(503);
  service.hypervisor.failing = undefined;
  expect(await volume(service, id)).toBe(0);
  expect(await price(service)).toBe(4.4);
  expect((await service.call('createVm', { form: { ...SMALL_VM, hostname: 'my server' } })).status).toBe(422);
  expect(await volume(service, id)).toBe(1);
  await expectInvariants(service.store);
});

test('compares the credit limit with the price of the sale, and uses no volume for a refused purchase', async () => {
  // Until the month ends a VM costs 3.01 EUR in the sale and 7.11 EUR at standard prices.
  const service = await startService({ creditLimit: '6.50' });
  const id = await providerOf(service).createSale();
  expect(await price(service)).toBe(4.4);
  expect(await price(service)).toBe(4.4);
  expect((await service.call('createVm', { form: SMALL_VM })).status).toBe(402);
  expect(await volume(service, id)).toBe(2);
});
