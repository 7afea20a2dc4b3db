import { sql } from 'kysely';
import type { Selectable } from 'kysely';

import type { Dated } from '../../rules/in-force.ts';
import type { Money } from '../../rules/money.ts';
import type { Db } from '../../store/store.ts';
import type { TldPricesTable } from '../../store/tables/catalogue.ts';

/** Net prices of a domain under a TLD for one year. */
export interface TldPrice {
  /** ASCII form without a leading dot. It may have several labels, such as `co.uk`. */
  readonly tld: string;
  readonly create: Money;
  readonly renew: Money;
  readonly transfer: Money;
}

/**
 * Adds TLDs to the price list or changes their prices from an instant on. Existing domains are renewed at the new prices. Prices with the
 * same date are replaced.
 *
 * @param validFrom Milliseconds.
 */
export async function setTldPrices(db: Db, prices: readonly TldPrice[], validFrom: number): Promise<void> {
  await db
    .insertInto('tlds')
    .values(prices.map(({ tld }) => ({ tld })))
    .onConflict((conflict) => conflict.column('tld').doNothing())
    .execute();
  await db
    .insertInto('tld_prices')
    .values(
      prices.map(({ tld, create, renew, transfer }) => ({
        tld,
        valid_from: validFrom,
        create_price: Number(create),
        renew_price: Number(renew),
        transfer_price: Number(transfer),
      })),
    )
    .onConflict((conflict) =>
      conflict.columns(['tld', 'valid_from']).doUpdateSet(({ ref }) => ({
        create_price: ref('excluded.create_price'),
        renew_price: ref('excluded.renew_price'),
        transfer_price: ref('excluded.transfer_price'),
      })),
    )
    .execute();
}

/**
 * A query for the price of each TLD in force at an instant. The first price of a TLD also applies before its `valid_from`, because the
 * clock of another instance may be behind.
 *
 * @param now Milliseconds.
 */
export function tldPricesAt(db: Db, now: number) {
  const inForce = sql<number>`(
    select coalesce(max(case when valid_from <= ${now} then valid_from end), min(valid_from)) from tld_prices where tld = price.tld
  )`;
  return db
    .selectFrom('tld_prices as price')
    .select(['price.tld', 'price.valid_from', 'price.create_price', 'price.renew_price', 'price.transfer_price'])
    .where('price.valid_from', '=', inForce);
}

/**
 * A query for the highest renewal price of each TLD from an instant on. Scheduled prices may be higher than those in force.
 *
 * @param now Milliseconds.
 */
export function highestRenewalsFrom(db: Db, now: number) {
  return db
    .selectFrom('tld_prices')
    .innerJoin(tldPricesAt(db, now).as('present'), 'present.tld', 'tld_prices.tld')
    .whereRef('tld_prices.valid_from', '>=', 'present.valid_from')
    .select(({ fn }) => ['tld_prices.tld', fn.max('tld_prices.renew_price').as('renew_price')])
    .groupBy('tld_prices.tld');
}

/** Prices of a TLD from an instant on. */
export interface TldPriceVersion extends TldPrice, Dated {}

export function toTldPriceVersion(row: Selectable<TldPricesTable>): TldPriceVersion {
  return {
    tld: row.tld,
    validFrom: row.valid_from,
    create: BigInt(row.create_price),
    renew: BigInt(row.renew_price),
    transfer: BigInt(row.transfer_price),
  };
}

/** Past, present and scheduled prices of a TLD, in the order of their dates. */
export async function tldPriceVersions(db: Db, tld: string): Promise<TldPriceVersion[]> {
  const rows = await db.selectFrom('tld_prices').selectAll().where('tld', '=', tld).orderBy('valid_from').execute();
  return rows.map(toTldPriceVersion);
}
