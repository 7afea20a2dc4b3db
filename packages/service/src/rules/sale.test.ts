import fc from 'fast-check';
import { expect, test } from 'vitest';

import { euros } from './money.ts';
import { monthlyPriceOf } from './resources.ts';
import type { BilledResources, ResourcePrices } from './resources.ts';
import { dearerInSale, offersFor, pricesInSale, saleEndAt, saleStateAt } from './sale.ts';
import type { SaleCourse, SaleOffer } from './sale.ts';

const standard: ResourcePrices = {
  core: '2.00',
  mem: '1.20',
  nvme: '0.04',
  hdd: '0.008',
  extra_ip: '1.50',
  extra_backup_slot: '0.50',
  extra_gbit: '5.00',
};
const small: BilledResources = { cores: 2, mem: 4096, disk: 40, ips: 1, backup_slots: 2, network_speed: 1000, storage: null };

const instant = fc.integer({ min: 0, max: 100 });
const courses: fc.Arbitrary<SaleCourse> = fc
  .record({
    start: instant,
    length: fc.option(fc.integer({ min: 1, max: 50 })),
    ended: fc.option(instant),
    maxVolume: fc.integer({ min: 1, max: 5 }),
    usedVolume: fc.integer({ min: 0, max: 5 }),
  })
  .map(({ length, ...course }) => ({
    ...course,
    stop: length === null ? null : course.start + length,
    usedVolume: Math.min(course.usedVolume, course.maxVolume),
  }));

test('a sale is scheduled before its start, active from its start, and ended from its stop', () => {
  const course: SaleCourse = { start: 10, stop: 20, ended: null, maxVolume: 3, usedVolume: 0 };
  expect([9, 10, 19, 20].map((now) => saleStateAt(course, now))).toEqual(['scheduled', 'active', 'active', 'ended']);
  expect(saleEndAt(course, 20)).toBe('by date');
});

test('a sale ends when its volume is sold or when the provider ends it', () => {
  const course: SaleCourse = { start: 10, stop: null, ended: null, maxVolume: 3, usedVolume: 2 };
  expect(saleStateAt(course, 1000)).toBe('active');
  expect(saleEndAt({ ...course, usedVolume: 3 }, 1000)).toBe('by volume');
  expect([11, 12].map((now) => saleEndAt({ ...course, ended: 12 }, now))).toEqual([undefined, 'by hand']);
});

test('a sale only moves from scheduled to active to ended', () => {
  const order = ['scheduled', 'active', 'ended'];
  fc.assert(
    fc.property(courses, instant, instant, (course, one, other) => {
      const [earlier, later] = [Math.min(one, other), Math.max(one, other)];
      expect(order.indexOf(saleStateAt(course, later))).toBeGreaterThanOrEqual(order.indexOf(saleStateAt(course, earlier)));
    }),
  );
});

test('a sale is active if and only if it has begun, has not ended, and has volume left', () => {
  fc.assert(
    fc.property(courses, instant, (course, now) => {
      const { start, stop, ended, maxVolume, usedVolume } = course;
      const active = start <= now && now < (stop ?? Infinity) && now < (ended ?? Infinity) && usedVolume < maxVolume;
      expect(saleStateAt(course, now) === 'active').toBe(active);
      expect(saleStateAt(course, now) === 'ended').toBe(saleEndAt(course, now) !== undefined);
    }),
  );
});

test('keeps the standard prices of resources that it does not list', () => {
  // 2 x 1.00 + 4 x 1.20 + 40 x 0.04
  expect(monthlyPriceOf(small, pricesInSale(standard, { core: euros('1.00') }))).toBe(euros('8.40'));
  // 2 x 1.00 + 4 x 0.40 + 40 x 0.02
  expect(monthlyPriceOf(small, pricesInSale(standard, { core: euros('1.00'), mem: euros('0.40'), nvme: euros('0.02') }))).toBe(
    euros('4.40'),
  );
  expect(pricesInSale(standard, {})).toEqual(standard);
});

test('sorts several sales by their price for the customer, and omits those that raise the price of the VM', () => {
  const sale = (id: string, core: string, rest: Partial<SaleOffer> = {}): SaleOffer => ({
    id,
    start: 5,
    upgradable: false,
    prices: { core: euros(core) },
    ...rest,
  });
  const sales = [
    sale('dearer', '2.50'),
    sale('no cheaper', '2.00', { upgradable: true }),
    sale('good', '1.50'),
    sale('best', '1.00'),
    sale('best, and stays', '1.00', { upgradable: true }),
    sale('best, and older', '1.00', { start: 4 }),
    // More expensive cores, which cheaper memory outweighs.
    { ...sale('mixed', '2.10'), prices: { core: euros('2.10'), mem: euros('0.80') } },
  ];
  expect(offersFor(small, standard, sales).map(({ id }) => id)).toEqual(['best, and stays', 'best, and older', 'best', 'mixed', 'good']);
});

test('reports only a sale price above the standard price, even by the smallest unit', () => {
  expect(dearerInSale({ core: euros('2.00'), mem: euros('1.20') }, standard)).toEqual([]);
  expect(dearerInSale({ core: euros('2.00000001'), mem: euros('1.19'), nvme: euros('0.05') }, standard)).toEqual([
    { resource: 'core', standard: '2.00' },
    { resource: 'nvme', standard: '0.04' },
  ]);
  expect(dearerInSale({}, standard)).toEqual([]);
});

test('sorts two sales that differ only in their names by name', () => {
  const twin = (id: string): SaleOffer => ({ id, start: 5, upgradable: false, prices: { core: euros('1.00') } });
  const ids = (...all: readonly string[]) => offersFor(small, standard, all.map(twin)).map(({ id }) => id);
  expect(ids('a', 'b')).toEqual(['a', 'b']);
  expect(ids('b', 'a')).toEqual(['a', 'b']);
});

test('returns the price of the VM in the sale', () => {
  const [offer] = offersFor(small, standard, [{ id: 'one', start: 5, upgradable: true, prices: { core: euros('1.00') } }]);
  expect(offer).toEqual({ id: 'one', start: 5, upgradable: true, prices: { core: euros('1.00') }, monthlyPrice: euros('8.40') });
});
