import type { Money } from '../../rules/money.ts';
import type { Db } from '../../store/store.ts';

/** Net prices of a domain under a TLD for one year. */
export interface TldPrice {
  /** ASCII form without a leading dot. It may have several labels, such as `co.uk`. */
  readonly tld: string;
  readonly create: Money;
  readonly renew: Money;
  readonly transfer: Money;
}

/** Adds TLDs to the price list or changes their prices. Existing domains are renewed at the new prices. */
export async function setTldPrices(db: Db, prices: readonly TldPrice[]): Promise<void> {
  await db
    .insertInto('tlds')
    .values(
      prices.map(({ tld, create, renew, transfer }) => ({
        tld,
        create_price: Number(create),
        renew_price: Number(renew),
        transfer_price: Number(transfer),
      })),
    )
    .onConflict((conflict) =>
      conflict.column('tld').doUpdateSet(({ ref }) => ({
        create_price: ref('excluded.create_price'),
        renew_price: ref('excluded.renew_price'),
        transfer_price: ref('excluded.transfer_price'),
      })),
    )
    .execute();
}
