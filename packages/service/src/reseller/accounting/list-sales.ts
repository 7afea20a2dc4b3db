import type { Sale, SaleHostsystemPrices } from '@reseller/client';

import { vatRatesOf } from '../../core/accounting/account-vat.ts';
import { openSales } from '../../core/catalogue/sale.ts';
import type { OpenSale } from '../../core/catalogue/sale.ts';
import { counted } from '../../rules/counted.ts';
import { toInstant, toInstantOrNull } from '../../rules/instants.ts';
import { saleResources } from '../../rules/sale.ts';
import type { SalePrices } from '../../rules/sale.ts';
import { vatInForce } from '../../rules/vat.ts';
import type { ReadOperation } from '../operation.ts';
import { toUnitPrice } from '../unit-price.ts';

/** GET /accounting/sales: the active and the scheduled sales that the account may use. */
export const listSales: ReadOperation<'listSales'> = {
  kind: 'read',
  settles: false,
  async run(db, { accountId, now }) {
    const sales = await openSales(db, accountId, now);
    const rates = await vatRatesOf(db, accountId);
    return {
      message: `${counted(sales.length, 'active or scheduled sale')}.`,
      // Nobody can buy in a scheduled sale before it starts.
      data: sales.map((sale) => toSale(sale, vatInForce(rates, Math.max(now, sale.start)))),
    };
  },
};

function toSale(sale: OpenSale, vat: number): Sale {
  const { title, start, stop, upgradable, maxVolume, usedVolume, pricings, descriptions } = sale;
  const prices = Object.fromEntries([...pricings].map(([hostsystem, listed]) => [hostsystem, toHostsystemPrices(listed, vat)]));
  return {
    title,
    startDate: { value: toInstant(start), description: descriptions.startDate },
    stopDate: { value: toInstantOrNull(stop), description: descriptions.stopDate },
    upgradable: { value: upgradable, description: descriptions.upgradable },
    maxVolume: { value: maxVolume, description: descriptions.maxVolume },
    usedVolume: { value: usedVolume, description: descriptions.usedVolume },
    pricings: { value: prices, description: descriptions.pricings },
  };
}

function toHostsystemPrices(prices: SalePrices, vat: number): SaleHostsystemPrices {
  const shownResources = saleResources.flatMap((resource) => {
    const net = prices[resource];
    return net === undefined ? [] : [[resource, toUnitPrice(net, vat)] as const];
  });
  return Object.fromEntries(shownResources);
}
