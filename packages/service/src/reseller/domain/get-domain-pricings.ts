import type { DomainPricings } from '@reseller/client';

import { vatAt } from '../../core/accounting/account-vat.ts';
import { tldPricesAt } from '../../core/catalogue/tld-price.ts';
import { numberOf } from '../../rules/money.ts';
import type { Money } from '../../rules/money.ts';
import { grossOf } from '../../rules/vat.ts';
import type { Db } from '../../store/store.ts';
import type { ReadOperation } from '../operation.ts';

/** GET /domain/pricings: the prices of registration, renewal and transfer for each TLD. */
export const getDomainPricings: ReadOperation<'getDomainPricings'> = {
  kind: 'read',
  settles: false,
  async run(db, { accountId, now }) {
    const vat = await vatAt(db, accountId, now);
    return { message: 'The price list was read.', data: await readDomainPricings(db, { vat, now }) };
  },
};

/**
 * The prices of domains at an instant, by TLD.
 *
 * @param at Hundredths of a percent, and milliseconds.
 */
export async function readDomainPricings(db: Db, { vat, now }: { readonly vat: number; readonly now: number }): Promise<DomainPricings> {
  const rows = await tldPricesAt(db, now).orderBy('tld').execute();
  const pricings: DomainPricings = {};
  for (const { tld, create_price: create, renew_price: renew, transfer_price: transfer } of rows) {
    function prices(convert: (net: Money) => Money) {
      return {
        create: numberOf(convert(BigInt(create))),
        renew: numberOf(convert(BigInt(renew))),
        transfer: numberOf(convert(BigInt(transfer))),
      };
    }
    pricings[tld] = { price_net: prices((net) => net), price_gross: prices((net) => grossOf(net, vat)) };
  }
  return pricings;
}
