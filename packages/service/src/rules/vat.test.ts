import fc from 'fast-check';
import { expect, test } from 'vitest';

import { euros } from './money.ts';
import { DEFAULT_VAT_RATES, grossOf, vatInForce, vatOn } from './vat.ts';

test('has a default rate of 19 percent at any time', () => {
  fc.assert(fc.property(fc.nat(), (now) => vatInForce(DEFAULT_VAT_RATES, now) === 1900));
  expect(grossOf(euros('10.00'), 1900)).toBe(euros('11.90'));
});

test('applies a rate from its instant until that of the next one', () => {
  const instants = fc.uniqueArray(fc.nat({ max: 1_000_000 }), { minLength: 1, maxLength: 8 });
  fc.assert(
    fc.property(instants, fc.nat({ max: 1_100_000 }), (from, now) => {
      const rates = from.map((validFrom, basisPoints) => ({ validFrom, basisPoints }));
      const inForce = rates[vatInForce(rates, now)];
      const begun = from.filter((validFrom) => validFrom <= now);
      expect(inForce?.validFrom).toBe(begun.length === 0 ? Math.min(...from) : Math.max(...begun));
    }),
  );
});

test('returns exact gross prices, rounded half to even after the eighth decimal', () => {
  expect(grossOf(euros('4.20'), 0)).toBe(euros('4.20'));
  expect(grossOf(euros('1.00'), 725)).toBe(euros('1.0725'));
  expect(grossOf(50n, 100)).toBe(50n);
  expect(grossOf(150n, 100)).toBe(152n);
});

test.each([
  ['3.47', 1_900, '0.66'],
  ['0.50', 1_000, '0.05'],
  // Half a cent is rounded to the even cent.
  ['0.25', 1_000, '0.02'],
  ['0.35', 1_000, '0.04'],
  ['100.00', 0, '0.00'],
])('the VAT on %s EUR at %i basis points is %s EUR', (net, basisPoints, vat) => {
  expect(vatOn(euros(net), basisPoints)).toBe(euros(vat));
});

test('applies a rate from its exact instant, and the first one also before', () => {
  const rates = [
    { validFrom: 20, basisPoints: 700 },
    { validFrom: 10, basisPoints: 1900 },
  ];
  expect([0, 9, 10, 19, 20, 21].map((now) => vatInForce(rates, now))).toEqual([1900, 1900, 1900, 1900, 700, 700]);
});

test('has no rate in force if there are no rates', () => {
  expect(() => vatInForce([], 0)).toThrow(new RangeError('There must be at least one version.'));
});
