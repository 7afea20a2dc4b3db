import { expect, test } from 'vitest';

import { SMALL_VM, startService } from '../../../test/harness.ts';
import type { TestService } from '../../../test/harness.ts';
import { providerOf } from '../../../test/provider.ts';

const titles = async (service: TestService, apiKey = service.apiKey): Promise<string[]> =>
  (await service.call('listSales', { apiKey })).body.data.map(({ title }: { title: string }) => title);

test('returns the active and the scheduled sale of the sandbox, with the types of the specification', async () => {
  const service = await startService();
  const { status, body } = await service.call('listSales');
  expect(status).toBe(200);
  expect(body.requestID).toBeNull();
  const text = expect.stringMatching(/\w/);
  expect(body.data).toEqual([
    {
      title: 'Xeon season',
      startDate: { value: '2026-11-01T00:00:00.000Z', description: text },
      stopDate: { value: '2027-02-01T00:00:00.000Z', description: text },
      upgradable: { value: true, description: text },
      maxVolume: { value: 200, description: text },
      usedVolume: { value: 0, description: text },
      pricings: {
        value: { de_xeon: { core: { price_net: '0.80', price_gross: 0.952 }, mem: { price_net: '0.60', price_gross: 0.714 } } },
        description: text,
      },
    },
    {
      title: 'Xeon storage weeks',
      startDate: { value: '2027-02-01T00:00:00.000Z', description: text },
      stopDate: { value: null, description: 'No end is scheduled; the provider ends the sale manually.' },
      upgradable: { value: false, description: text },
      maxVolume: { value: 50, description: text },
      usedVolume: { value: 0, description: text },
      pricings: {
        value: { de_xeon: { mem: { price_net: '0.70', price_gross: 0.833 }, nvme: { price_net: '0.02', price_gross: 0.0238 } } },
        description: text,
      },
    },
  ]);
});

test('lists a sale until it ends by date', async () => {
  const service = await startService();
  service.clock.advanceTo('2027-01-31T23:59:59.999Z');
  expect(await titles(service)).toEqual(['Xeon season', 'Xeon storage weeks']);
  service.clock.advance(1);
  expect(await titles(service)).toEqual(['Xeon storage weeks']);
});

test('lists a scheduled or active sale until it ends by hand', async () => {
  const service = await startService();
  const provider = providerOf(service);
  const active = await provider.createSale({ title: 'active' });
  const scheduled = await provider.createSale({ title: 'scheduled', start: service.clock.now() + 1000 });
  expect(await titles(service)).toEqual(['Xeon season', 'active', 'scheduled', 'Xeon storage weeks']);
  await provider.endSale(active);
  await provider.endSale(scheduled);
  expect(await titles(service)).toEqual(['Xeon season', 'Xeon storage weeks']);
});

test('lists a sale until its volume is sold', async () => {
  const service = await startService();
  await providerOf(service).createSale({ title: 'two', maxVolume: 2 });
  const usedVolume = async () =>
    (await service.call('listSales')).body.data.find(({ title }: { title: string }) => title === 'two')?.usedVolume.value;
  expect(await usedVolume()).toBe(0);
  await service.call('createVm', { form: SMALL_VM });
  expect(await usedVolume()).toBe(1);
  await service.call('createVm', { form: SMALL_VM });
  expect(await titles(service)).not.toContain('two');
});

test('lists a sale for one account only for that account', async () => {
  const service = await startService();
  const other = await service.account();
  await providerOf(service).createSale({ title: 'arranged', accountId: other.id });
  expect(await titles(service, other.apiKey)).toContain('arranged');
  expect(await titles(service)).not.toContain('arranged');
});

test('returns the sale’s own texts next to its properties', async () => {
  const service = await startService();
  await providerOf(service).createSale({ title: 'described', descriptions: { maxVolume: 'One hundred, and not one more.' } });
  const sale = (await service.call('listSales')).body.data.find(({ title }: { title: string }) => title === 'described');
  expect(sale.maxVolume).toEqual({ value: 100, description: 'One hundred, and not one more.' });
  expect(sale.startDate.description).toBe('The sale is active from this moment.');
});
