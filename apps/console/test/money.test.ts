import fc from 'fast-check';
import { expect, test } from 'vitest';

import { decimalOf, grouped, perSecond, sumOf, unitsOf } from '../src/api/money.ts';
import { courseOf } from '../src/views/month.ts';

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

test('the chart of a month ends at the estimate, which has the renewals until then', () => {
  const position = {
    kind: 'vm',
    subject: '10000',
    type: 'START',
    start: '2026-11-11T00:00:00.000Z',
    stop: null,
    runtime_seconds: 0,
    monthly_price: '30.00',
    total: '0.00',
  };
  const invoice = {
    period_start: '2026-11-01T00:00:00.000Z',
    period_end: '2026-12-01T00:00:00.000Z',
    estimated_total: '79.00',
    positions: [position],
  };
  const { times, actual, expected } = courseOf(invoice, Date.parse('2026-11-16T00:00:00Z') / 1000);
  expect([expected.at(-1), expected.at(-2)]).toEqual([79, expect.closeTo(20, 3)]);
  expect([actual.at(-1), times.at(-1)]).toEqual([null, Date.parse('2026-12-01T00:00:00Z') / 1000]);
  expect(times).toEqual([...new Set(times)].toSorted((one, other) => one - other));
});
