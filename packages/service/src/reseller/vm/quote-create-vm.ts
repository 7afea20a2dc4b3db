import { priceListOf } from '../../core/accounting/account-vat.ts';
import { partsOfVm, runtimeOfVm } from '../../core/accounting/quote.ts';
import { holdOf } from '../../core/accounting/vm-billing.ts';
import { pricesAt } from '../../core/catalogue/host-system.ts';
import { quotedSale, presentSale } from '../../core/catalogue/sale.ts';
import { offerFor, withStoredKey } from '../../core/vm/create.ts';
import { periodOf } from '../../rules/billing.ts';
import { monthlyPriceOf } from '../../rules/resources.ts';
import { pricesInSale } from '../../rules/sale.ts';
import type { ReadOperation } from '../operation.ts';
import { quoteSuccess } from '../quote-success.ts';
import { brokenFormRules, wantedVmOf } from './create-vm.ts';

/** POST /vm/create/quote: the price of a new VM. */
export const quoteCreateVm: ReadOperation<'quoteCreateVm'> = {
  kind: 'read',
  settles: true,
  async run(db, { accountId, form, now }) {
    const wanted = await withStoredKey(db, { accountId, vm: wantedVmOf(form), broken: brokenFormRules(form) });
    const { vm } = wanted;
    const { catalogue, vatRates } = await priceListOf(db, accountId);
    const { host } = offerFor(wanted, catalogue);
    const { prices: standard } = pricesAt(host, now);
    const sale = await presentSale(db, { sales: catalogue.sales, accountId, hostsystem: host.name, vm, standard, now });
    const price = sale?.monthlyPrice ?? monthlyPriceOf(vm, standard);
    const start = Math.floor(now / 1000);
    const { end: periodEnd } = periodOf(start);
    const purchase = {
      price,
      time: { amount: 30, unit: 'days' },
      supplies: runtimeOfVm(price, vatRates, { start, stop: periodEnd }),
      periodEnd,
      hold: holdOf({ start, monthlyPrice: price }),
      parts: sale ? partsOfVm(vm, pricesInSale(standard, sale.prices), sale.prices) : partsOfVm(vm, standard),
      sale: sale && (await quotedSale(db, sale.id, now)),
    };
    return quoteSuccess(db, purchase, { accountId, now });
  },
};
