import { expect, test } from 'vitest';

import { startService } from '../../../test/harness.ts';
import { providerOf } from '../../../test/provider.ts';
import { euros } from '../../rules/money.ts';

test('everything that is wrong with a sale is named, and nothing of it is stored', async () => {
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
      { field: 'stop', rule: 'minimum' },
      { field: 'maxVolume', rule: 'minimum' },
      { field: 'pricings', rule: 'required' },
      { field: 'pricings', rule: 'minimum' },
      { field: 'pricings', rule: 'exists' },
      { field: 'accountId', rule: 'exists' },
    ],
  });
  await expect(createSale({ pricings: {} })).rejects.toMatchObject({ status: 422 });
  await expect(createSale({ maxVolume: 1.5 })).rejects.toMatchObject({ status: 422 });
  expect(await service.store.read((db) => db.selectFrom('sales').select('id').execute())).toEqual(before);
});

test('refuses a sale that is dearer than the list price', async () => {
  const service = await startService();
  const { createSale } = providerOf(service);
  await expect(createSale({ pricings: { nl_ryzen: { core: euros('2.00000001') } } })).rejects.toMatchObject({
    status: 422,
    fields: [{ field: 'pricings', rule: 'maximum', message: 'must be at most 2.00, the list price, for core on nl_ryzen' }],
  });
});

test('a sale is ended once, and not when it has ended by itself', async () => {
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
