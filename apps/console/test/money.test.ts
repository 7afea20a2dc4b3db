import fc from 'fast-check';
import { expect, test } from 'vitest';

import { decimalOf, grouped, perSecond, sumOf, unitsOf } from '../src/api/money.ts';

const amount = fc
  .tuple(fc.bigInt(0n, 10n ** 12n), fc.integer({ min: 0, max: 99_999_999 }), fc.boolean())
  .map(([whole, part, isNegative]) => `${isNegative ? '-' : ''}${whole}.${String(part).padStart(8, '0')}`);

test('an amount keeps its value through the sum of its parts', () => {
  fc.assert(
    fc.property(fc.array(amount, { minLength: 1 }), (amounts) => {
      const expected = amounts.reduce((total, text) => total + BigInt(text.replace('.', '')), 0n);
      expect(sumOf(amounts)).toBe(expected * 10_000n);
      expect(unitsOf(decimalOf(sumOf(amounts)))).toBe(sumOf(amounts));
    }),
  );
});

test.each([
  ['10.40', '0.0000040123'],
  ['2592000.00', '1.00'],
  ['0.00', '0.00'],
])('%s for 30 days costs %s for each second', (monthly, expected) => {
  expect(perSecond(unitsOf(monthly))).toBe(expected);
});

test('thousands are separated, and decimals are not', () => {
  expect(grouped('-1234567.123456')).toBe('-1\u202f234\u202f567.123456');
});
