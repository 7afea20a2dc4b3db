import fc from 'fast-check';
import { expect, test } from 'vitest';

import { accruedByCharge, totalOf, SECONDS_PER_PRICE } from './billing.ts';
import { euros, UNITS_PER_CENT } from './money.ts';
import { netOf } from './payment.ts';
import {
  changesRatesBefore,
  correctionByRate,
  DEFAULT_VAT_RATES,
  grossOf,
  grossOfUnit,
  highestRate,
  splitByRate,
  taxed,
  taxedInSteps,
  vatInForce,
  vatOn,
} from './vat.ts';
import type { VatRate } from './vat.ts';

test('the default rate of VAT is 19 percent at any time', () => {
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

test('the highest rate of a time is in force in it, and no higher one is', () => {
  const instants = fc.uniqueArray(fc.nat({ max: 100 }), { minLength: 1, maxLength: 8 });
  fc.assert(
    fc.property(instants, fc.nat({ max: 110 }), fc.integer({ min: 1, max: 40 }), (from, start, length) => {
      const rates = from.map((validFrom, index) => ({ validFrom, basisPoints: (index * 7) % 5 }));
      const inForce = Array.from({ length }, (_, after) => vatInForce(rates, start + after));
      expect(highestRate(rates, start, start + length)).toBe(Math.max(...inForce));
    }),
  );
});

test('what a balance buys at the higher of two rates is invoiced for at most this balance', () => {
  const rate = fc.integer({ min: 0, max: 10_000 });
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: 100_000n }), rate, rate, fc.integer({ min: 0, max: 1_000 }), (cents, one, other, share) => {
      const balance = cents * UNITS_PER_CENT;
      const net = netOf(balance, Math.max(one, other));
      const exact = accruedByCharge(net);
      const first = (exact * BigInt(share)) / 1_000n;
      const amounts = [
        { basisPoints: one, exact: first },
        { basisPoints: other, exact: exact - first },
      ];
      const { sums } = taxed(amounts, SECONDS_PER_PRICE, net);
      expect(sums.reduce((all, sum) => all + sum.net + sum.vat, 0n)).toBeLessThanOrEqual(balance);
    }),
    { numRuns: 1_000 },
  );
});

test('returns exact gross prices of units, rounded half to even after the eighth decimal', () => {
  expect(grossOfUnit(euros('4.20'), 0)).toBe(euros('4.20'));
  expect(grossOfUnit(euros('1.00'), 725)).toBe(euros('1.0725'));
  expect(grossOfUnit(50n, 100)).toBe(50n);
  expect(grossOfUnit(150n, 100)).toBe(152n);
});

test('a gross price is the gross amount of an invoice with the same net price alone', () => {
  expect(grossOf(euros('1.005'), 1900)).toBe(euros('1.19'));
  const prices = fc.bigInt({ min: 0n, max: 10_000_000_000n });
  fc.assert(
    fc.property(prices, fc.integer({ min: 0, max: 10_000 }), (net, basisPoints) => {
      const accrued = accruedByCharge(net);
      const { sums } = taxed([{ basisPoints, exact: accrued }], SECONDS_PER_PRICE, totalOf(accrued));
      expect(grossOf(net, basisPoints)).toBe(sums.reduce((all, sum) => all + sum.net + sum.vat, 0n));
    }),
    { numRuns: 1_000 },
  );
});

test.each([
  ['3.47', 1_900, '0.66'],
  ['0.50', 1_000, '0.05'],
  // Half a cent is rounded up.
  ['0.25', 1_000, '0.03'],
  ['321.50', 1_900, '61.09'],
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

test('no rate is in force if there are no rates', () => {
  expect(() => vatInForce([], 0)).toThrow(new RangeError('There must be at least one version.'));
});

/** Rates at whole seconds, in any order. */
const someRates = fc
  .uniqueArray(
    fc.record({ validFrom: fc.nat({ max: 100 }).map((second) => second * 1000), basisPoints: fc.constantFrom(0, 700, 1600, 1900) }),
    {
      selector: ({ validFrom }) => validFrom,
      minLength: 1,
      maxLength: 6,
    },
  )
  .map((rates): readonly VatRate[] => rates);

test('splits a runtime so that each second is in one part, which has its rate', () => {
  fc.assert(
    fc.property(someRates, fc.nat({ max: 110 }), fc.nat({ max: 110 }), (rates, start, seconds) => {
      const parts = splitByRate(rates, start, start + seconds);
      const inParts = parts.flatMap(({ basisPoints, start: from, stop }) =>
        Array.from({ length: stop - from }, (_, second) => [from + second, basisPoints]),
      );
      expect(inParts).toEqual(Array.from({ length: seconds }, (_, second) => [start + second, vatInForce(rates, (start + second) * 1000)]));
      // No part could be joined with the next one.
      for (const [index, { basisPoints }] of parts.slice(1).entries()) expect(basisPoints).not.toBe(parts[index]?.basisPoints);
    }),
  );
});

test('does not split at a change exactly at the start or the end of a runtime', () => {
  const rates = [
    { validFrom: 0, basisPoints: 1900 },
    { validFrom: 10_000, basisPoints: 1600 },
    { validFrom: 20_000, basisPoints: 1900 },
  ];
  expect(splitByRate(rates, 10, 20)).toEqual([{ basisPoints: 1600, start: 10, stop: 20 }]);
  expect(splitByRate(rates, 10, 10)).toEqual([{ basisPoints: 1600, start: 10, stop: 10 }]);
  expect(splitByRate(rates, 9, 21)).toEqual([
    { basisPoints: 1900, start: 9, stop: 10 },
    { basisPoints: 1600, start: 10, stop: 20 },
    { basisPoints: 1900, start: 20, stop: 21 },
  ]);
});

const amounts = fc.array(
  fc.record({ basisPoints: fc.constantFrom(0, 700, 1600, 1900), exact: fc.bigInt({ min: 0n, max: euros('500.00') * SECONDS_PER_PRICE }) }),
  { minLength: 1, maxLength: 60 },
);

test('a division in steps pauses at least twice for each amount, and its result is the same', () => {
  fc.assert(
    fc.property(amounts, (exact) => {
      const total = totalOf(exact.reduce((sum, one) => sum + one.exact, 0n));
      const steps = taxedInSteps(exact, SECONDS_PER_PRICE, total);
      let pauses = 0;
      let step = steps.next();
      for (; step.done !== true; step = steps.next()) pauses += 1;
      expect(pauses).toBeGreaterThanOrEqual(2 * exact.length);
      expect(step.value).toEqual(taxed(exact, SECONDS_PER_PRICE, total));
    }),
  );
});

test('divides a total among rates and amounts, each within a cent of its exact amount, and rounds the VAT of a rate once', () => {
  fc.assert(
    fc.property(amounts, (exact) => {
      const total = totalOf(exact.reduce((sum, one) => sum + one.exact, 0n));
      const { sums, amounts: shares } = taxed(exact, SECONDS_PER_PRICE, total);
      expect(sums.reduce((sum, { net }) => sum + net, 0n)).toBe(total);
      expect(sums.map(({ basisPoints }) => basisPoints)).toEqual(
        [...new Set(exact.map((one) => one.basisPoints))].toSorted((a, b) => b - a),
      );
      for (const { basisPoints, net, vat } of sums) {
        const own = [...exact.entries()].filter(([, one]) => one.basisPoints === basisPoints);
        expect(own.reduce((sum, [index]) => sum + (shares[index] ?? 0n), 0n)).toBe(net);
        expectNear(
          net,
          own.reduce((sum, [, one]) => sum + one.exact, 0n),
        );
        expect(vat).toBe(vatOn(net, basisPoints));
      }
      for (const [index, one] of exact.entries()) expectNear(shares[index] ?? 0n, one.exact);
    }),
  );
});

function expectNear(amount: bigint, exact: bigint): void {
  const difference = amount * SECONDS_PER_PRICE - exact;
  expect(difference < 0n ? -difference : difference).toBeLessThan(UNITS_PER_CENT * SECONDS_PER_PRICE);
}

test('corrections never exceed what is left of a rate, and all of them together correct each rate and its VAT exactly', () => {
  const nets = fc.uniqueArray(fc.record({ basisPoints: fc.nat({ max: 2500 }), net: fc.integer({ min: 0, max: 50_000 }) }), {
    selector: ({ basisPoints }) => basisPoints,
    minLength: 1,
    maxLength: 4,
  });
  fc.assert(
    fc.property(nets, fc.array(fc.nat({ max: 30_000 }), { maxLength: 8 }), (cents, wanted) => {
      const invoiced = cents.map(({ basisPoints, net: cent }) => {
        const net = BigInt(cent) * UNITS_PER_CENT;
        return { basisPoints, net, vat: vatOn(net, basisPoints) };
      });
      let left = invoiced.reduce((sum, { net }) => sum + net, 0n);
      const credited: typeof invoiced = [];
      for (const one of [...wanted.map((cent) => BigInt(cent) * UNITS_PER_CENT), left]) {
        const amount = one < left ? one : left;
        const parts = correctionByRate(invoiced, credited, amount);
        expect(parts.reduce((sum, { net }) => sum + net, 0n)).toBe(amount);
        for (const { net, vat } of parts) expect([net >= 0n, vat >= 0n]).toEqual([true, true]);
        credited.push(...parts);
        left -= amount;
      }
      for (const { basisPoints, net, vat } of invoiced) {
        const own = credited.filter((one) => one.basisPoints === basisPoints);
        expect([own.reduce((sum, one) => sum + one.net, 0n), own.reduce((sum, one) => sum + one.vat, 0n)]).toEqual([net, vat]);
      }
    }),
  );
});

test('a change of rates before an instant is noticed, and one from it on is not', () => {
  const rates = [
    { validFrom: 0, basisPoints: 1900 },
    { validFrom: 50, basisPoints: 1600 },
  ];
  const changes = (before: number, ...others: VatRate[]) => changesRatesBefore(before, rates, others);
  expect(changes(50, { validFrom: 0, basisPoints: 1900 })).toBe(false);
  expect(changes(51, { validFrom: 0, basisPoints: 1900 })).toBe(true);
  expect(changes(50, { validFrom: 0, basisPoints: 1600 })).toBe(true);
  // The first rate also applied before its date.
  expect(changes(-10, { validFrom: 0, basisPoints: 1600 })).toBe(true);
  expect(changes(100, ...rates, { validFrom: 100, basisPoints: 700 })).toBe(false);
  expect(changes(100, ...rates, { validFrom: 70, basisPoints: 1600 })).toBe(false);
  expect(changes(100, ...rates, { validFrom: 99, basisPoints: 700 })).toBe(true);
});
