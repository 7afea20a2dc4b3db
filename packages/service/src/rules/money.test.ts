import fc from 'fast-check';
import { expect, test } from 'vitest';

import { decimalOf, divideHalfEven, divideUp, euros, numberOf, roundToCents, UNITS_PER_CENT } from './money.ts';

const amounts = fc.bigInt({ min: -(10n ** 16n), max: 10n ** 16n });

test('an amount and its decimal notation are the same thing', () => {
  fc.assert(fc.property(amounts, (amount) => void expect(euros(decimalOf(amount))).toBe(amount)));
});

test.each([
  ['4.20', 420_000_000n],
  ['0.00000001', 1n],
  ['-1.5', -150_000_000n],
])('%s EUR is %s units', (decimal, units) => expect(euros(decimal)).toBe(units));

test.each(['', '1,5', '1.', '.5', '1.123456789', '1e3', ' 1', 'NaN'])("'%s' is not an amount", (text) => {
  expect(() => euros(text)).toThrow(/is not an amount in EUR/);
});

test('an amount of an answer prints as its decimal notation', () => {
  expect(String(numberOf(euros('10.40')))).toBe('10.4');
  expect(String(numberOf(euros('0.00385802')))).toBe('0.00385802');
});

test('a quotient is rounded to the nearest, and to the even one in the middle', () => {
  expect([1n, 3n, 5n, 7n, -1n, -3n].map((half) => divideHalfEven(half, 2n))).toEqual([0n, 2n, 2n, 4n, 0n, -2n]);
  fc.assert(
    fc.property(amounts, fc.bigInt({ min: 1n, max: 10n ** 9n }), (numerator, denominator) => {
      const error = 2n * (divideHalfEven(numerator, denominator) * denominator - numerator);
      expect(error <= denominator && -error <= denominator).toBe(true);
    }),
  );
});

test('rounding up never promises less', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 10n ** 16n }), fc.bigInt({ min: 1n, max: 10n ** 9n }), (numerator, denominator) => {
      const up = divideUp(numerator, denominator);
      expect(up * denominator >= numerator && (up - 1n) * denominator < numerator).toBe(true);
    }),
  );
});

test('a rounded amount is whole cents', () => {
  fc.assert(fc.property(amounts, (amount) => void expect(roundToCents(amount) % UNITS_PER_CENT).toBe(0n)));
});

test('a denominator that is not positive is refused', () => {
  expect(() => divideHalfEven(1n, 0n)).toThrow(RangeError);
});
