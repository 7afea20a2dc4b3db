import { expect, test } from 'vitest';

import { startService } from '../../../test/harness.ts';
import { providerOf } from '../../../test/provider.ts';
import { euros } from '../../rules/money.ts';

test('names every broken rule of a sale and stores nothing', async () => {
  const service = await startService();
  const before = await service.store.read((db) => db.selectFrom('sales').select('id').execute());
  const { createSale } = providerOf(service);
  const now = service.clock.now();
  const refused = createSale({
    title: ' ',
    accountId: 'nobody',
    stop: now,
    maxVolume: 0,
    pricings: { nl_abacus: { core: euros('1.00') }, nl_ryzen: {}, de_xeon: { mem: euros('-0.01') } },
  });
  await expect(refused).rejects.toMatchObject({
    status: 422,
    fields: [
      { field: 'title', rule: 'required', message: 'must not be empty' },
      { field: 'stop_date', rule: 'minimum', message: `must be after the start, ${new Date(now).toISOString()}` },
      { field: 'max_volume', rule: 'minimum', message: 'must be an integer of at least 1' },
      { field: 'pricings/nl_ryzen', rule: 'required', message: 'must have a price for core, mem, nvme or several of them' },
      { field: 'pricings/de_xeon/mem', rule: 'minimum', message: 'must be at least 0' },
      { field: 'pricings/nl_abacus', rule: 'exists', message: 'must be the name of a host system: de_epyc, de_xeon, nl_ryzen' },
      { field: 'account_id', rule: 'exists', message: 'must be the identifier of an account, or null' },
    ],
  });
  await expect(createSale({ pricings: {} })).rejects.toMatchObject({
    status: 422,
    fields: [{ field: 'pricings', rule: 'required', message: 'must name a host system' }],
  });
  await expect(createSale({ maxVolume: 1.5 })).rejects.toMatchObject({ status: 422 });
  expect(await service.store.read((db) => db.selectFrom('sales').select('id').execute())).toEqual(before);
});

test('refuses a sale price above the list price', async () => {
  const service = await startService();
  const { createSale } = providerOf(service);
  await expect(createSale({ pricings: { nl_ryzen: { core: euros('2.00000001') } } })).rejects.toMatchObject({
    status: 422,
    fields: [{ field: 'pricings/nl_ryzen/core', rule: 'maximum', message: 'must be at most 2.00, the list price' }],
  });
});

test('refuses to end a sale that has already ended', async () => {
  const service = await startService();
  const { createSale, endSale } = providerOf(service);
  const byHand = await createSale();
  await endSale(byHand);
  await expect(endSale(byHand)).rejects.toMatchObject({ status: 409, message: expect.stringContaining('by hand') });
  const byDate = await createSale({ stop: service.clock.now() + 1000 });
  service.clock.advance(1000);
  await expect(endSale(byDate)).rejects.toMatchObject({ status: 409, message: expect.stringContaining('by date') });
  await expect(endSale('none')).rejects.toMatchObject({ status: 404 });
});

test('accepts a sale at each bound: a volume of 1, a price of 0 for one resource, and an end one millisecond after the start', async () => {
  const service = await startService();
  const { createSale } = providerOf(service);
  const start = service.clock.now();
  const id = await createSale({ start, stop: start + 1, maxVolume: 1, pricings: { de_xeon: { mem: 0n } } });
  const { sales, prices } = await service.store.read(async (db) => ({
    sales: await db.selectFrom('sales').selectAll().where('id', '=', id).execute(),
    prices: await db.selectFrom('sale_prices').selectAll().where('sale_id', '=', id).execute(),
  }));
  expect(sales).toMatchObject([{ start, stop: start + 1, max_volume: 1, used_volume: 0, ended: null, created: start, account_id: null }]);
  expect(prices).toEqual([{ sale_id: id, hostsystem: 'de_xeon', resource: 'mem', price_net: 0 }]);
});

test('describes each property of a sale in a default text, which the provider can replace', async () => {
  const service = await startService();
  const { createSale } = providerOf(service);
  const descriptionsOf = async (sale: Parameters<typeof createSale>[0]): Promise<unknown> => {
    const id = await createSale(sale);
    const { descriptions } = await service.store.read((db) =>
      db.selectFrom('sales').select('descriptions').where('id', '=', id).executeTakeFirstOrThrow(),
    );
    return JSON.parse(descriptions);
  };
  const always = {
    startDate: 'The sale is active from this moment.',
    maxVolume: 'Maximum number of VMs; the sale ends automatically when it is reached.',
    usedVolume: 'VMs already created through the sale.',
    pricings:
      'Net and gross price of 30 days for each core, GB of memory and GB of NVMe storage. Host systems and resources that are not listed keep their standard prices.',
  };
  expect(await descriptionsOf({ stop: null, upgradable: true })).toEqual({
    ...always,
    stopDate: 'No end is scheduled; the provider ends the sale manually.',
    upgradable: 'Sale prices stay for VMs bought in the sale, also after upgrade and downgrade.',
  });
  const stop = service.clock.now() + 1000;
  expect(await descriptionsOf({ stop, upgradable: false, descriptions: { usedVolume: 'Sold.' } })).toEqual({
    ...always,
    stopDate: 'The sale ends at this moment.',
    upgradable: 'Sale prices end with the first upgrade or downgrade of a VM.',
    usedVolume: 'Sold.',
  });
});
