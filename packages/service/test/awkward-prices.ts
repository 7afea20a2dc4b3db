/** Prices that need rounding. Round prices can hide a wrong order of sums and roundings, because two formulas then agree by chance. */
import * as operator from '@reseller/operator-client';

import type { TestOperator } from './operator.ts';

/** EUR for 30 days, of the host system that SMALL_VM names. */
export const AWKWARD_VM_PRICES = {
  core: '1.98765433',
  mem: '1.12345679',
  nvme: '0.03999997',
  hdd: '0.01234567',
  extra_ip: '1.00000001',
  extra_backup_slot: '0.33333333',
  extra_gbit: '4.99999999',
} as const;

/** Gives all VMs awkward prices. @param validFrom The start of a month. By default, the prices are valid at once. */
export async function chargeAwkwardPrices({ client }: Pick<TestOperator, 'client'>, validFrom?: string): Promise<void> {
  const body = { prices: AWKWARD_VM_PRICES, applies_to: 'all_vms' as const, ...(validFrom !== undefined && { valid_from: validFrom }) };
  await operator.scheduleHostSystemPrices({ client, path: { hostsystem: 'nl_ryzen' }, body });
}
