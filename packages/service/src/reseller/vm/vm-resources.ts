import type { ChangedVmConfig, CreatedVmPricings } from '@reseller/client/extension';

import { numberOf } from '../../rules/money.ts';
import type { Money } from '../../rules/money.ts';
import type { BilledResources } from '../../rules/resources.ts';
import { grossOf } from '../../rules/vat.ts';

/** The resources of a VM in responses. */
export function toResources({ cores, mem, disk, storage, ips, network_speed, backup_slots }: BilledResources): ChangedVmConfig {
  return { cores, mem, disk, storage, ips, network_speed: String(network_speed), backup_slots: String(backup_slots) };
}

/**
 * The price of a VM in responses.
 *
 * @param monthly Net price of 30 days.
 * @param vat Hundredths of a percent.
 */
export function toPricings(monthly: Money, vat: number): CreatedVmPricings {
  return { monthly: numberOf(monthly), monthly_gross: numberOf(grossOf(monthly, vat)) };
}
