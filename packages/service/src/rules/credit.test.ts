import fc from 'fast-check';
import { expect, test } from 'vitest';

import { assertPriceAccepted, neededCredit, remainingCredit } from './credit.ts';
import { euros } from './money.ts';

test.each([
  ['100.00', '0.00', '0.00', '100.00'],
  ['100.00', '30.00', '70.00', '0.00'],
  ['100.00', '30.00', '70.01', '-0.01'],
  ['100.00', '30.00', '69.99', '0.01'],
  // Half a cent is rounded to the even cent, as in an invoice.
  ['100.00', '0.00', '0.00499999', '100.00'],
  ['100.00', '0.00', '0.005', '100.00'],
  ['100.00', '0.00', '0.00500001', '99.99'],
  ['100.00', '0.00', '0.015', '99.98'],
  ['10.00', '0.00', '10.005', '0.00'],
])('of %s EUR with %s unpaid and %s held, %s EUR remain', (limit, unpaid, held, remaining) => {
  expect(remainingCredit({ limit: euros(limit), balance: 0n, unpaid: euros(unpaid), held: euros(held) })).toBe(euros(remaining));
});

test('a purchase needs exactly what it takes of the remaining credit', () => {
  const amounts = fc.bigInt({ min: 0n, max: euros('100000.00') });
  fc.assert(
    fc.property(amounts, amounts, amounts, (limit, held, amount) => {
      const before = remainingCredit({ limit, balance: 0n, unpaid: 0n, held });
      expect(before - remainingCredit({ limit, balance: 0n, unpaid: 0n, held: held + amount })).toBe(neededCredit(amount, held));
    }),
  );
});

test.each([
  ['0.00', '0.00', '0.00'],
  ['0.01', '0.00', '0.01'],
  ['0.005', '0.00', '0.00'],
  ['0.005', '0.01', '0.01'],
  ['0.01', '0.005', '0.02'],
  ['10.40', '3.00', '10.40'],
  ['-0.00000001', '0.00', '0.00'],
  ['-10.00', '20.00', '0.00'],
])('a purchase of %s EUR needs, with %s EUR held, %s EUR of credit', (amount, held, needed) => {
  expect(neededCredit(euros(amount), euros(held))).toBe(euros(needed));
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
