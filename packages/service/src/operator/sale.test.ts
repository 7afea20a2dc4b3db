import * as operator from '@reseller/operator-client';
import { expect, test } from 'vitest';

import { refusalOf, startOperator } from '../../test/operator.ts';

const SALE = { title: 'Spring', upgradable: true, max_volume: 3 };

test('refuses a sale above the list price by the smallest step, and names each price and its limit', async () => {
  const { client } = await startOperator();
  // List prices: 2.00, 1.20 and 0.04.
  const pricings = { nl_ryzen: { core: '2.00000001', mem: '1.20', nvme: '100' } };
  expect(await refusalOf(operator.createSale({ client, body: { ...SALE, pricings } }))).toMatchObject({
    status: 422,
    fields: [
      { field: '#/pricings/nl_ryzen/core', message: 'must be at most 2.00, the list price' },
      { field: '#/pricings/nl_ryzen/nvme', message: 'must be at most 0.04, the list price' },
    ],
  });
  const { items } = await operator.listSales({ client });
  expect(items.map(({ title }) => title)).not.toContain(SALE.title);
});

test('accepts a sale at the list price', async () => {
  const { client } = await startOperator();
  const pricings = { nl_ryzen: { core: '2.00', mem: '1.20', nvme: '0.04' } };
  expect(await operator.createSale({ client, body: { ...SALE, pricings } })).toMatchObject({ pricings });
});
