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
      { field: 'title', rule: 'required' },
      { field: 'stop_date', rule: 'minimum' },
      { field: 'max_volume', rule: 'minimum' },
      { field: 'pricings/nl_ryzen', rule: 'required' },
      { field: 'pricings/de_xeon/mem', rule: 'minimum' },
      { field: 'pricings/nl_abacus', rule: 'exists' },
      { field: 'account_id', rule: 'exists' },
    ],
  });
  await expect(createSale({ pricings: {} })).rejects.toMatchObject({ status: 422 });
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
