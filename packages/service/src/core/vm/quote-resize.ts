import type { Selectable } from 'kysely';

import { periodOf } from '../../rules/billing.ts';
import type { BilledResources } from '../../rules/resources.ts';
import type { Db } from '../../store/store.ts';
import type { VmsTable } from '../../store/tables/vms.ts';
import { vatRatesOf } from '../accounting/account-vat.ts';
import { partsOfVm, runtimeOfVm } from '../accounting/quote.ts';
import type { QuotedPurchase } from '../accounting/quote.ts';
import { previewPositionEnd } from '../accounting/vm-billing.ts';
import { quotedSale } from '../catalogue/sale.ts';
import { moreHeld, pricedResize } from './deliveries.ts';

/** A change of the resources of a VM, to be priced. */
interface WantedResize {
  readonly resources: Partial<BilledResources>;
  /** Milliseconds. */
  readonly now: number;
}

/**
 * Prices other resources of a VM. The account must be settled.
 *
 * @throws Refusal 422 with every rule of the host system that they break.
 */
export async function quotedResize(db: Db, vm: Selectable<VmsTable>, { resources, now }: WantedResize): Promise<QuotedPurchase> {
  const { to, price, changes, prices } = await pricedResize(db, vm, resources, now);
  const instant = Math.floor(now / 1000);
  const { end: periodEnd } = periodOf(instant);
  const running = await previewPositionEnd(db, vm.id, instant);
  const own = vm.sale_id !== null && vm.price_basis === 'SALE' ? await quotedSale(db, vm.sale_id, now) : undefined;
  const keepsSale = !changes || prices.basis === 'SALE';
  const rates = await vatRatesOf(db, vm.account_id);
  return {
    price,
    time: { amount: 30, unit: 'days' },
    supplies: running ? runtimeOfVm(price, rates, { start: running.stop, stop: periodEnd }) : [],
    periodEnd,
    hold: moreHeld(vm, price, running),
    parts: changes ? partsOfVm(to, prices.prices, prices.sale) : [],
    sale: keepsSale ? own : undefined,
    endedSale: keepsSale ? undefined : own,
  };
}
