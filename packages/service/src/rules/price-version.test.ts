import { expect, test } from 'vitest';

import { pricesOfAllVms } from './price-version.ts';
import type { AppliesTo, PriceVersion } from './price-version.ts';

const MONTH = Date.UTC(2027, 0);
const version = (validFrom: number, appliesTo: AppliesTo): PriceVersion => ({
  validFrom,
  appliesTo,
  prices: { core: '1', mem: '1', nvme: '1', hdd: '1', extra_ip: '1', extra_backup_slot: '1', extra_gbit: '1' },
});

test('uses in each month the last prices for all VMs that are not later than its first millisecond', () => {
  const [first, exact] = [version(MONTH - 5, 'all_vms'), version(MONTH, 'all_vms')];
  const others = [version(0, 'new_purchases'), version(MONTH - 1, 'new_purchases'), version(MONTH + 1, 'all_vms')] as const;
  const [initial, purchases, late] = others;
  expect(pricesOfAllVms([initial, first, purchases, late], MONTH / 1000)).toBe(first);
  expect(pricesOfAllVms([initial, first, purchases, exact, late], MONTH / 1000)).toBe(exact);
  expect(pricesOfAllVms([initial, purchases, late], MONTH / 1000)).toBeUndefined();
});
