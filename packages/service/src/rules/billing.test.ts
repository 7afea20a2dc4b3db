import fc from 'fast-check';
import { expect, test } from 'vitest';

import { accruedBy, accruedByAll, accruedByCharge, amountOf, holdFor, periodOf, runtimeOf, SECONDS_PER_PRICE, totalOf } from './billing.ts';
import type { BilledRuntime } from './billing.ts';
import { secondsToInstant } from './instants.ts';
import { euros, UNITS_PER_CENT } from './money.ts';

const NOVEMBER = periodOf(Date.UTC(2026, 10, 1) / 1000);
const instants = fc.integer({ min: NOVEMBER.start, max: NOVEMBER.end });
const prices = fc.bigInt({ min: 0n, max: euros('100000.00') });
const positions: fc.Arbitrary<BilledRuntime> = fc
  .tuple(instants, instants, fc.boolean(), prices)
  .map(([one, other, runs, monthlyPrice]) => ({ start: Math.min(one, other), stop: runs ? null : Math.max(one, other), monthlyPrice }));

test('30 days at 10.40 EUR cost 10.40 EUR', () => {
  const position = { start: NOVEMBER.start, stop: null, monthlyPrice: euros('10.40') };
  expect(totalOf(accruedBy(position, NOVEMBER.end))).toBe(euros('10.40'));
});

test('one hour at 10.40 EUR costs 1.44 cents, on the invoice 1 cent', () => {
  const position = { start: NOVEMBER.start, stop: NOVEMBER.start + 3600, monthlyPrice: euros('10.40') };
  const accrued = accruedBy(position, NOVEMBER.end);
  expect(amountOf(accrued)).toBe(1_444_444n);
  expect(totalOf(accrued)).toBe(euros('0.01'));
});

test('a period is a calendar month in UTC', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: Date.UTC(2100, 0, 1) / 1000 }), (instant) => {
      const { start, end } = periodOf(instant);
      expect(start <= instant && instant < end).toBe(true);
      expect(new Date(start * 1000).toISOString()).toMatch(/-01T00:00:00\.000Z$/);
      expect(periodOf(end).start).toBe(end);
    }),
  );
});

test('costs the same before rounding if a runtime is split at any instant', () => {
  fc.assert(
    fc.property(positions, instants, (position, instant) => {
      const end = position.stop ?? NOVEMBER.end;
      const split = Math.min(Math.max(instant, position.start), end);
      const parts = [
        { ...position, stop: split },
        { ...position, start: split },
      ];
      expect(accruedByAll(parts, NOVEMBER.end)).toBe(accruedBy(position, NOVEMBER.end));
    }),
  );
});

test('rounds to cents once, for the sum of all positions', () => {
  fc.assert(
    fc.property(fc.array(positions), (all) => {
      const exact = all.reduce((sum, position) => sum + accruedBy(position, NOVEMBER.end), 0n);
      const total = totalOf(accruedByAll(all, NOVEMBER.end));
      const difference = 2n * (total * SECONDS_PER_PRICE - exact);
      const oneCent = UNITS_PER_CENT * SECONDS_PER_PRICE;
      expect(difference <= oneCent && -difference <= oneCent).toBe(true);
    }),
  );
});

test('never returns a negative runtime, and a stopped one does not grow', () => {
  fc.assert(
    fc.property(positions, instants, instants, (position, one, other) => {
      const [earlier, later] = [Math.min(one, other), Math.max(one, other)];
      expect(runtimeOf(position, earlier)).toBeGreaterThanOrEqual(0);
      expect(runtimeOf(position, later)).toBeGreaterThanOrEqual(runtimeOf(position, earlier));
      if (position.stop !== null && earlier >= position.stop) expect(runtimeOf(position, later)).toBe(runtimeOf(position, earlier));
    }),
  );
});

test('holds the cost of the whole period, with less than one unit of excess', () => {
  fc.assert(
    fc.property(positions, (position) => {
      const exact = accruedBy(position, NOVEMBER.end);
      const hold = holdFor(position, NOVEMBER.end) * SECONDS_PER_PRICE;
      expect(hold >= exact && hold - exact < SECONDS_PER_PRICE).toBe(true);
    }),
  );
});

test('writes an instant in UTC with milliseconds', () => {
  expect(secondsToInstant(0)).toBe('1970-01-01T00:00:00.000Z');
  expect(secondsToInstant(NOVEMBER.end - 1)).toBe('2026-11-30T23:59:59.000Z');
});

test('begins a period with the first second of a month and ends it before that of the next, even at the end of a year', () => {
  const [start, end] = [Date.UTC(2026, 11, 1) / 1000, Date.UTC(2027, 0, 1) / 1000];
  for (const instant of [start, end - 1]) expect(periodOf(instant)).toEqual({ start, end });
  expect([periodOf(start - 1).end, periodOf(end).start]).toEqual([start, end]);
});

test('bills the second in which a position starts, and not the one in which it stops', () => {
  const position = { start: 100, stop: 110, monthlyPrice: 7n };
  expect([99, 100, 101, 109, 110, 111].map((until) => runtimeOf(position, until))).toEqual([0, 0, 1, 9, 10, 10]);
  expect(accruedBy(position, 1000)).toBe(70n);
});

test('rounds a single charge together with the positions', () => {
  const charge = accruedByCharge(euros('10.00'));
  expect(totalOf(charge)).toBe(euros('10.00'));
  // Rounded separately, each would be a cent less.
  const halves = [accruedByCharge(euros('0.004')), accruedByCharge(euros('0.004'))];
  expect(halves.map(totalOf)).toEqual([0n, 0n]);
  expect(totalOf(halves.reduce((sum, one) => sum + one, 0n))).toBe(euros('0.01'));
});
