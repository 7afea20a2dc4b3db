import fc from 'fast-check';
import { expect, test } from 'vitest';

import { moneyOf, showMoney } from './money.ts';

test('an amount is read and shown without loss, from text and from the numbers of JSON', () => {
  fc.assert(fc.property(fc.bigInt({ min: 0n, max: 10n ** 22n }), (amount) => moneyOf(showMoney(amount)) === amount));
  // Up to fifteen digits, every decimal survives being a number.
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 10 ** 11 }), (cents) => {
      const text = `${Math.floor(cents / 100)}.${String(cents % 100).padStart(2, '0')}`;
      expect(showMoney(moneyOf(JSON.parse(text)) ?? 0n)).toBe(text);
    }),
  );
  expect(moneyOf('0.1')).toBe(10_000_000n);
  expect((moneyOf(0.1) ?? 0n) + (moneyOf(0.2) ?? 0n)).toBe(moneyOf(0.3));
});

test.each([['-1'], ['1,50'], ['1e3'], [''], [Number.NaN], [-0.5], [null], [1e21], ['1.123456789']])('%s is not an amount', (value) => {
  expect(moneyOf(value)).toBeUndefined();
});
