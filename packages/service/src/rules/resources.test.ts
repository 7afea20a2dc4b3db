import { expect, test } from 'vitest';

import { euros } from './money.ts';
import { brokenRanges, brokenShrinking, monthlyPriceOf } from './resources.ts';
import type { BilledResources, ResourcePrices, ResourceRanges } from './resources.ts';

const prices: ResourcePrices = {
  core: '2.00',
  mem: '1.20',
  nvme: '0.04',
  hdd: '0.008',
  extra_ip: '1.50',
  extra_backup_slot: '0.50',
  extra_gbit: '5.00',
};
const least: BilledResources = { cores: 1, mem: 1024, disk: 10, ips: 1, backup_slots: 2, network_speed: 1000, storage: null };
const one = { min: 1, max: 16, step: 1 };
const ranges: ResourceRanges = {
  cores: one,
  mem: { min: 1024, max: 65_536, step: 512 },
  disk: { min: 10, max: 500, step: 5 },
  ips: one,
  backup_slots: { min: 0, max: 10, step: 1 },
  network_speed: { min: 100, max: 5000, step: 100 },
};

test('adds up the prices of all resources', () => {
  expect(monthlyPriceOf(least, prices)).toBe(euros('3.60'));
  expect(monthlyPriceOf({ cores: 4, mem: 8192, disk: 80, ips: 3, backup_slots: 4, network_speed: 2500, storage: 500 }, prices)).toBe(
    // 4 x 2.00 + 8 x 1.20 + 80 x 0.04 + 2 x 1.50 + 2 x 0.50 + 2 x 5.00 + 500 x 0.008
    euros('8.00') + euros('9.60') + euros('3.20') + euros('3.00') + euros('1.00') + euros('10.00') + euros('4.00'),
  );
});

test('charges half a GB at half the price', () => {
  expect(monthlyPriceOf({ ...least, mem: 1536 }, prices) - monthlyPriceOf(least, prices)).toBe(euros('0.60'));
});

test('does not reduce the price for fewer backup slots or less speed than included', () => {
  expect(monthlyPriceOf({ ...least, backup_slots: 0, network_speed: 100 }, prices)).toBe(monthlyPriceOf(least, prices));
});

test('names every resource that is out of bounds', () => {
  const broken = brokenRanges(
    { cores: 0, mem: 1025, disk: 501, ips: 17, backup_slots: -1, network_speed: 5001, storage: 1 },
    ranges,
    'nl_ryzen',
  );
  expect(broken.map(({ field, rule }) => `${field} ${rule}`)).toEqual([
    'cores minimum',
    'mem multipleOf',
    'disk maximum',
    'ips maximum',
    'backup_slots minimum',
    'network_speed maximum',
    'storage unavailable',
  ]);
});

test('accepts values at their bounds', () => {
  expect(
    brokenRanges({ cores: 16, mem: 1024, disk: 500, ips: 1, backup_slots: 10, network_speed: 5000, storage: null }, ranges, 'nl_ryzen'),
  ).toEqual([]);
});

test.each([
  ['cores', 0, 'minimum', 'must be at least 1 on the host system nl_ryzen'],
  ['cores', 17, 'maximum', 'must be at most 16 on the host system nl_ryzen'],
  ['mem', 1023, 'minimum', 'must be at least 1024 on the host system nl_ryzen'],
  ['mem', 1535, 'multipleOf', 'must be 1024 plus a multiple of 512 on the host system nl_ryzen'],
  ['mem', 65_537, 'maximum', 'must be at most 65536 on the host system nl_ryzen'],
  ['disk', 9, 'minimum', 'must be at least 10 on the host system nl_ryzen'],
  ['storage', 0, 'unavailable', 'is not offered on the host system nl_ryzen'],
] as const)('%s of %d breaks the rule %s', (field, value, rule, message) => {
  expect(brokenRanges({ ...least, [field]: value }, ranges, 'nl_ryzen')).toEqual([{ field, rule, message }]);
});

test('counts steps from the minimum, which need not be a multiple of the step', () => {
  const offGrid = { ...ranges, disk: { min: 8, max: 23, step: 5 } };
  const broken = (disk: number) => brokenRanges({ ...least, disk }, offGrid, 'nl_ryzen').map(({ rule }) => rule);
  expect([8, 13, 18, 23].map(broken)).toEqual([[], [], [], []]);
  expect([7, 10, 15, 20, 24].map(broken)).toEqual([['minimum'], ['multipleOf'], ['multipleOf'], ['multipleOf'], ['maximum']]);
});

test.each([
  [1000, '3.60'],
  [1001, '8.60'],
  [2000, '8.60'],
  [2001, '13.60'],
])('%d Mbit cost %s EUR: each begun Gbit after the first', (network_speed, price) => {
  expect(monthlyPriceOf({ ...least, network_speed }, prices)).toBe(euros(price));
});

test('accepts a disk of the same size, and names each disk that would shrink', () => {
  const from = { ...least, disk: 40, storage: 500 };
  expect(brokenShrinking(from, from)).toEqual([]);
  expect(brokenShrinking(from, { ...from, disk: 41, storage: 501 })).toEqual([]);
  const message = (size: number) => `must be at least its current size, ${size}: a disk cannot shrink`;
  expect(brokenShrinking(from, { ...from, disk: 39, storage: 499 })).toEqual([
    { field: 'disk', rule: 'minimum', message: message(40) },
    { field: 'storage', rule: 'minimum', message: message(500) },
  ]);
  expect(brokenShrinking(from, { ...from, storage: null })).toEqual([{ field: 'storage', rule: 'minimum', message: message(500) }]);
  expect(brokenShrinking({ ...from, storage: null }, { ...from, storage: 0 })).toEqual([]);
});
