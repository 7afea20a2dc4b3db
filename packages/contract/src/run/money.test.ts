import fc from 'fast-check';
import { expect, test } from 'vitest';

import { moneyOf, showMoney } from './money.ts';

test('parses and formats amounts without loss, from text and from JSON numbers', () => {
  fc.assert(fc.property(fc.bigInt({ min: 0n, max: 10n ** 22n }), (amount) => moneyOf(showMoney(amount)) === amount));
  // A number represents up to fifteen decimal digits exactly.
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 10 ** 11 }), (cents) => {
      const text = `${Math.floor(cents / 100)}.${String(cents % 100).padStart(2, '0')}`;
      expect(showMoney(moneyOf(JSON.parse(text)) ?? 0n)).toBe(text);
    }),
  );
  expect(moneyOf('0.1')).toBe(10_000_000n);
  expect((moneyOf(0.1) ?? 0n) + (moneyOf(0.2) ?? 0n)).toBe(moneyOf(0.3));
});

test('parses JSON numbers that JavaScript writes with an exponent', () => {
  expect([2.2e-7, 1e-8].map(moneyOf)).toEqual([22n, 1n]);
});

test.each([[1.5e-9], ['-1'], ['1,50'], ['1e3'], [''], [Number.NaN], [-0.5], [null], [1e21], ['1.123456789']])('rejects %s', (value) => {
  expect(moneyOf(value)).toBeUndefined();
});
