/** Prices of VMs with the instant from which they apply (the specification shows prices without a date: not shown). */
import type { Seconds } from './billing.ts';
import type { Dated } from './in-force.ts';
import type { ResourcePrices } from './resources.ts';

/** Whether the prices apply only to purchases and changes of resources, or also to existing VMs from their next billing period. */
export type AppliesTo = 'new_purchases' | 'all_vms';

/** The prices of a host system from an instant on. */
export interface PriceVersion extends Dated {
  readonly prices: ResourcePrices;
  readonly appliesTo: AppliesTo;
}

/**
 * The newest prices that existing VMs of a host system get at the start of a billing period. A VM whose prices are newer keeps them.
 *
 * @param versions In the order of their dates.
 */
export function pricesOfAllVms(versions: readonly PriceVersion[], periodStart: Seconds): PriceVersion | undefined {
  return versions.findLast(({ appliesTo, validFrom }) => appliesTo === 'all_vms' && validFrom <= periodStart * 1000);
}
