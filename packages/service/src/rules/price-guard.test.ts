import { expect, test } from 'vitest';

import { euros } from './money.ts';
import { assertPriceAccepted } from './price-guard.ts';

test.each([
  ['10.40', '10.40'],
  ['10.40', '10.41'],
  ['10.40', undefined],
])('accepts a price of %s EUR with a max_price of %s', (price, maxPrice) => {
  expect(() => assertPriceAccepted(euros(price), maxPrice)).not.toThrow();
});

test('refuses a price of the smallest unit above max_price, and names both', () => {
  expect(() => assertPriceAccepted(euros('10.40000001'), '10.4')).toThrow(
    expect.objectContaining({
      status: 412,
      type: 'precondition_failed',
      message: expect.stringMatching(
        /^The net price is 10\.40000001 EUR, which is more than the max_price 10\.4 EUR, so nothing was bought\./,
      ),
    }),
  );
});
