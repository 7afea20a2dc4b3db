import fc from 'fast-check';
import { expect, test } from 'vitest';

import { decimalOf, divideHalfEven, divideUp, euros, numberOf, roundHalfUpToCents, roundToCents, UNITS_PER_CENT } from './money.ts';

const amounts = fc.bigInt({ min: -(10n ** 16n), max: 10n ** 16n });

test('converts an amount to its decimal notation and back', () => {
  fc.assert(fc.property(amounts, (amount) => void expect(euros(decimalOf(amount))).toBe(amount)));
});

test.each([
  ['4.20', 420_000_000n],
  ['5', 500_000_000n],
  ['0.00000001', 1n],
  ['-1.5', -150_000_000n],
])('%s EUR is %s units', (decimal, units) => expect(euros(decimal)).toBe(units));

test.each(['', '1,5', '1.', '.5', '1.123456789', '1e3', ' 1', 'NaN'])("'%s' is not an amount", (text) => {
  expect(() => euros(text)).toThrow(/is not an amount in EUR/);
});

test('prints an amount of a response in its decimal notation', () => {
  expect(String(numberOf(euros('10.40')))).toBe('10.4');
  expect(String(numberOf(euros('0.00385802')))).toBe('0.00385802');
});

test('rounds a quotient half to even', () => {
  expect([1n, 3n, 5n, 7n, -1n, -3n].map((half) => divideHalfEven(half, 2n))).toEqual([0n, 2n, 2n, 4n, 0n, -2n]);
  fc.assert(
    fc.property(amounts, fc.bigInt({ min: 1n, max: 10n ** 9n }), (numerator, denominator) => {
      const error = 2n * (divideHalfEven(numerator, denominator) * denominator - numerator);
      expect(error <= denominator && -error <= denominator).toBe(true);
    }),
  );
});

test('never rounds up to less than the exact quotient', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 10n ** 16n }), fc.bigInt({ min: 1n, max: 10n ** 9n }), (numerator, denominator) => {
      const up = divideUp(numerator, denominator);
      expect(up * denominator >= numerator && (up - 1n) * denominator < numerator).toBe(true);
    }),
  );
});

test('rounds an amount to whole cents', () => {
  fc.assert(fc.property(amounts, (amount) => void expect(roundToCents(amount) % UNITS_PER_CENT).toBe(0n)));
});

test('refuses a denominator that is not positive', () => {
  expect(() => divideHalfEven(1n, 0n)).toThrow(RangeError);
});

test.each([
  ['0.00', 0n],
  ['999999999.99999999', 99_999_999_999_999_999n],
  ['-0.00000001', -1n],
  ['-0.00', 0n],
])('%s EUR is %s units, at the limit of an amount', (decimal, units) => expect(euros(decimal)).toBe(units));

test.each(['1000000000', '--1', '+1', '1.5x', 'x1.5', '1.000000000'])(
  "refuses '%s', which is beyond the limit of an amount, and names it",
  (text) => {
    expect(() => euros(text)).toThrow(
      new RangeError(`'${text}' is not an amount in EUR. Write digits with up to eight decimals, such as 4.20.`),
    );
  },
);

test.each([
  [0n, '0.00'],
  [1n, '0.00000001'],
  [-1n, '-0.00000001'],
  [10n, '0.0000001'],
  [1_000_000n, '0.01'],
  [1_500_000n, '0.015'],
  [100_000_000n, '1.00'],
  [-1_040_000_000n, '-10.40'],
])('%s units are written as %s', (amount, decimal) => expect(decimalOf(amount)).toBe(decimal));

test.each([
  [0n, 2n, 0n],
  [-2n, 2n, -1n],
  [-4n, 3n, -1n],
  [-5n, 3n, -2n],
  [4n, 3n, 1n],
  [5n, 3n, 2n],
  [7n, 1n, 7n],
])('%s divided by %s is %s', (numerator, denominator, quotient) => expect(divideHalfEven(numerator, denominator)).toBe(quotient));

test('refuses a negative denominator like 0, with the reason', () => {
  for (const denominator of [0n, -1n])
    expect(() => divideHalfEven(1n, denominator)).toThrow(new RangeError('The denominator must be positive.'));
});

test.each([
  [0n, 0n, 0n],
  [1n, 0n, 0n],
  [499_999n, 0n, 0n],
  [500_000n, 0n, 1n],
  [500_001n, 1n, 1n],
  [1_000_000n, 1n, 1n],
  [1_000_001n, 1n, 1n],
  [1_500_000n, 2n, 2n],
  [2_500_000n, 2n, 3n],
])('%s units are %s cents half to even, and %s cents half up', (amount, halfEven, halfUp) => {
  expect([roundToCents(amount), roundHalfUpToCents(amount)].map((rounded) => rounded / UNITS_PER_CENT)).toEqual([halfEven, halfUp]);
});
