import { vatRatesOf } from '../../core/accounting/account-vat.ts';
import { partsOfVm, runtimeOfVm } from '../../core/accounting/quote.ts';
import { previewPositionEnd } from '../../core/accounting/vm-billing.ts';
import { quotedSale } from '../../core/catalogue/sale.ts';
import { moreHeld, pricedResize } from '../../core/vm/deliveries.ts';
import { findOwnVm } from '../../core/vm/own-vm.ts';
import { periodOf } from '../../rules/billing.ts';
import type { ReadOperation } from '../operation.ts';
import { quoteSuccess } from '../quote-success.ts';
import { resizeOf } from './change-vm.ts';

/** POST /vm/{vmid}/change/quote: the price of other resources of a VM. */
export const quoteChangeVm: ReadOperation<'quoteChangeVm'> = {
  kind: 'read',
  settles: true,
  async run(db, { accountId, path, form, now }) {
    const vm = await findOwnVm(db, accountId, path.vmid);
    const { to, price, changes, prices } = await pricedResize(db, vm, resizeOf(form).resources, now);
    const instant = Math.floor(now / 1000);
    const { end: periodEnd } = periodOf(instant);
    const running = await previewPositionEnd(db, vm.id, instant);
    const own = vm.sale_id !== null && vm.price_basis === 'SALE' ? await quotedSale(db, vm.sale_id, now) : undefined;
    const keepsSale = !changes || prices.basis === 'SALE';
    const rates = await vatRatesOf(db, accountId);
    const purchase = {
      price,
      time: { amount: 30, unit: 'days' },
      supplies: running ? runtimeOfVm(price, rates, { start: running.stop, stop: periodEnd }) : [],
      periodEnd,
      hold: moreHeld(vm, price, running),
      parts: changes ? partsOfVm(to, prices.prices, prices.sale) : [],
      sale: keepsSale ? own : undefined,
      endedSale: keepsSale ? undefined : own,
    };
    return quoteSuccess(db, purchase, { accountId, now });
  },
};
