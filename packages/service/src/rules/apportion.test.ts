import fc from 'fast-check';
import { expect, test } from 'vitest';

import { apportionCents } from './apportion.ts';
import { divideHalfEven, euros, UNITS_PER_CENT } from './money.ts';

test('gives the remaining cents to the lines that lost most by rounding, the earlier line first', () => {
  const thirds = [euros('0.00333333'), euros('0.00333333'), euros('0.00333334')];
  expect(apportionCents(thirds, 1n, euros('0.01'))).toEqual([0n, 0n, euros('0.01')]);
  expect(apportionCents([euros('1.005'), euros('1.005')], 1n, euros('2.01'))).toEqual([euros('1.01'), euros('1.00')]);
});

test('returns lines that add up to the rounded total, each within a cent of its exact amount', () => {
  const lines = fc.array(fc.bigInt({ min: 0n, max: 10n ** 18n }), { maxLength: 40 });
  fc.assert(
    fc.property(lines, fc.bigInt({ min: 1n, max: 3_000_000n }), (exact, denominator) => {
      const sum = exact.reduce((total, one) => total + one, 0n);
      const total = divideHalfEven(sum, denominator * UNITS_PER_CENT) * UNITS_PER_CENT;
      const amounts = apportionCents(exact, denominator, total);
      expect(amounts.reduce((all, one) => all + one, 0n)).toBe(total);
      for (const [index, amount] of amounts.entries()) {
        const difference = amount * denominator - (exact[index] ?? 0n);
        expect(difference > -UNITS_PER_CENT * denominator && difference <= UNITS_PER_CENT * denominator).toBe(true);
      }
    }),
  );
});
