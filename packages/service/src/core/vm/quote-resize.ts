import { periodOf } from '../../rules/billing.ts';
import type { BilledResources } from '../../rules/resources.ts';
import type { Db } from '../../store/store.ts';
import { vatRatesOf } from '../accounting/account-vat.ts';
import { partsOfVm, runtimeOfVm } from '../accounting/quote.ts';
import type { QuotedPurchase } from '../accounting/quote.ts';
import { previewPositionEnd } from '../accounting/vm-billing.ts';
import { quotedSale } from '../catalogue/sale.ts';
import type { Vm } from './change.ts';
import { moreHeld, pricedResize } from './deliveries.ts';
import type { Repricing } from './deliveries.ts';

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
export async function quotedResize(db: Db, vm: Vm, wanted: WantedResize): Promise<QuotedPurchase> {
  return (await repricedResize(db, vm, wanted)).quoted;
}

/** A move of an address, to be priced. */
interface WantedMove {
  readonly from: Vm;
  readonly to: Vm;
  /** Milliseconds. */
  readonly now: number;
}

/** Prices the move of an address from one VM to another, which reprices both. The account must be settled. */
export async function quotedMove(db: Db, { from, to, now }: WantedMove): Promise<QuotedPurchase> {
  const source = await repricedResize(db, from, { resources: { ips: from.ips - 1 }, now });
  const target = await repricedResize(db, to, { resources: { ips: to.ips + 1 }, now });
  const both = [source, target];
  return {
    ...target.quoted,
    price: source.quoted.price + target.quoted.price,
    supplies: both.flatMap(({ quoted }) => quoted.supplies),
    hold: moreHeld(both),
    parts: both.flatMap(({ quoted }) => quoted.parts),
    endedSale: target.quoted.endedSale ?? source.quoted.endedSale,
    vms: both.map(({ vm, price, quoted: { endedSale } }) => ({ vmId: vm.id, price, endedSale })),
  };
}

async function repricedResize(
  db: Db,
  vm: Vm,
  { resources, now }: WantedResize,
): Promise<Repricing & { readonly vm: Vm; readonly quoted: QuotedPurchase }> {
  const { to, price, changes, prices } = await pricedResize(db, vm, resources, now);
  const instant = Math.floor(now / 1000);
  const { end: periodEnd } = periodOf(instant);
  const ending = await previewPositionEnd(db, vm.id, instant);
  const own = vm.sale_id !== null && vm.price_basis === 'SALE' ? await quotedSale(db, vm.sale_id, now) : undefined;
  const keepsSale = !changes || prices.basis === 'SALE';
  const rates = await vatRatesOf(db, vm.account_id);
  const quoted = {
    price,
    time: { amount: 30, unit: 'days' as const },
    supplies: ending ? runtimeOfVm(price, rates, { start: ending.stop, stop: periodEnd }) : [],
    periodEnd,
    hold: moreHeld([{ vm, price, ending }]),
    parts: changes ? partsOfVm(to, prices.prices, prices.sale) : [],
    sale: keepsSale ? own : undefined,
    endedSale: keepsSale ? undefined : own,
  };
  return { vm, price, ending, quoted };
}
