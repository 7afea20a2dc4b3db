import { expect, test } from 'vitest';

import { euros } from './money.ts';
import { brokenRanges, monthlyPriceOf } from './resources.ts';
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

test('a price is the sum of its resources', () => {
  expect(monthlyPriceOf(least, prices)).toBe(euros('3.60'));
  expect(monthlyPriceOf({ cores: 4, mem: 8192, disk: 80, ips: 3, backup_slots: 4, network_speed: 2500, storage: 500 }, prices)).toBe(
    // 4 x 2.00 + 8 x 1.20 + 80 x 0.04 + 2 x 1.50 + 2 x 0.50 + 2 x 5.00 + 500 x 0.008
    euros('8.00') + euros('9.60') + euros('3.20') + euros('3.00') + euros('1.00') + euros('10.00') + euros('4.00'),
  );
});

test('half a GB costs half of one', () => {
  expect(monthlyPriceOf({ ...least, mem: 1536 }, prices) - monthlyPriceOf(least, prices)).toBe(euros('0.60'));
});

test('fewer backup slots and less speed than are included cost nothing less', () => {
  expect(monthlyPriceOf({ ...least, backup_slots: 0, network_speed: 100 }, prices)).toBe(monthlyPriceOf(least, prices));
});

test('every resource out of bounds is named', () => {
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

test('bounds themselves are allowed', () => {
  expect(
    brokenRanges({ cores: 16, mem: 1024, disk: 500, ips: 1, backup_slots: 10, network_speed: 5000, storage: null }, ranges, 'nl_ryzen'),
  ).toEqual([]);
});
