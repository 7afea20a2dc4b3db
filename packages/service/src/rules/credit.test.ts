import fc from 'fast-check';
import { expect, test } from 'vitest';

import { assertPriceAccepted, neededCredit, remainingCredit } from './credit.ts';
import { euros, UNITS_PER_CENT } from './money.ts';

test.each([
  ['100.00', '0.00', '0.00', '100.00'],
  ['100.00', '30.00', '70.00', '0.00'],
  ['100.00', '30.00', '70.01', '-0.01'],
  ['100.00', '30.00', '69.99', '0.01'],
  // A hold of half a cent counts as a cent, and a smaller one does not count.
  ['100.00', '0.00', '0.005', '99.99'],
  ['100.00', '0.00', '0.00499999', '100.00'],
  ['100.00', '0.00', '0.015', '99.98'],
])('of %s EUR with %s unpaid and %s held, %s EUR remain', (limit, unpaid, held, remaining) => {
  expect(remainingCredit({ limit: euros(limit), balance: 0n, unpaid: euros(unpaid), held: euros(held) })).toBe(euros(remaining));
});

test('a purchase of whole cents lowers the remaining credit by exactly its price', () => {
  const amounts = fc.bigInt({ min: 0n, max: euros('100000.00') });
  fc.assert(
    fc.property(amounts, amounts, fc.bigInt({ min: 0n, max: 1_000_000n }), (limit, held, cents) => {
      const price = cents * UNITS_PER_CENT;
      const before = remainingCredit({ limit, balance: 0n, unpaid: 0n, held });
      expect(before - remainingCredit({ limit, balance: 0n, unpaid: 0n, held: held + price })).toBe(price);
    }),
  );
});

test.each([
  ['0.00', '0.00'],
  ['0.01', '0.01'],
  ['0.01000001', '0.02'],
  ['10.40', '10.40'],
  ['-0.00000001', '0.00'],
  ['-10.00', '0.00'],
])('a purchase of %s EUR needs %s EUR of credit', (amount, needed) => {
  expect(neededCredit(euros(amount))).toBe(euros(needed));
});

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
