import type { CreateSaleRequest, Sale, SalePrices } from '@reseller/operator-client';
import { sql } from 'kysely';
import type { RawBuilder, Selectable } from 'kysely';

import { createSale as addSale, endSale as endOpenSale } from '../core/catalogue/sale-life-cycle.ts';
import { toSaleCourse } from '../core/catalogue/sale.ts';
import { toInstant, toInstantOrNull } from '../rules/instants.ts';
import { decimalOf, euros } from '../rules/money.ts';
import { saleEndAt, saleResources, saleStateAt } from '../rules/sale.ts';
import type { SalePrices as StoredPrices, SaleState } from '../rules/sale.ts';
import type { Db } from '../store/store.ts';
import type { SalePricesTable, SalesTable } from '../store/tables/catalogue.ts';
import type { ReadOperation, StoreOperation } from './operation.ts';
import { readPage } from './paging.ts';
import type { Order } from './paging.ts';
import { requireFound } from './problem.ts';

type Row = Selectable<SalesTable>;

const order: Order = { columns: { created: 'integer', id: 'text' }, direction: 'desc' };

/** GET /sales */
export const listSales: ReadOperation<'listSales'> = {
  kind: 'read',
  async run(db, { query, now }) {
    const sales = db
      .selectFrom('sales')
      .selectAll()
      .where(query.state === undefined ? sql<boolean>`1 = 1` : isInState(query.state, now));
    const { rows, next_cursor } = await readPage(sales, order, query);
    const details = await saleDetailsOf(db, rows, now);
    return { items: rows.map((sale) => toSale(sale, details, now)), next_cursor };
  },
};

/** POST /sales */
export const createSale: StoreOperation<'createSale'> = {
  kind: 'store',
  async run({ db }, { body, now, runtime: { ports } }) {
    const start = body.start_date === undefined ? now : Date.parse(body.start_date);
    const stop = body.stop_date ? Date.parse(body.stop_date) : null;
    const id = await addSale(db, ports, {
      title: body.title,
      accountId: body.account_id ?? null,
      start,
      stop,
      upgradable: body.upgradable,
      maxVolume: body.max_volume,
      pricings: Object.fromEntries(Object.entries(body.pricings).map(([name, listed]) => [name, salePricesOf(listed)])),
    });
    return describeSale(db, await saleOf(db, id), now);
  },
};

/** POST /sales/{sale_id}/end: a sale that has already ended stays unchanged. */
export const endSale: StoreOperation<'endSale'> = {
  kind: 'store',
  lock: 'sales',
  before: async (db, { path, now }) => describeSale(db, await saleOf(db, path.sale_id), now),
  async run({ db }, { path, now }) {
    const sale = await saleOf(db, path.sale_id);
    if (!saleEndAt(toSaleCourse(sale), now)) await endOpenSale(db, sale.id, now);
    return describeSale(db, await saleOf(db, sale.id), now);
  },
};

function salePricesOf(listed: CreateSaleRequest['pricings'][string]): StoredPrices {
  return Object.fromEntries(
    saleResources.flatMap((resource) => {
      const price = listed?.[resource];
      return price === undefined ? [] : [[resource, euros(price)]];
    }),
  );
}

async function saleOf(db: Db, id: string): Promise<Row> {
  return requireFound(await db.selectFrom('sales').selectAll().where('id', '=', id).executeTakeFirst(), 'sale of this identifier');
}

/** Prices and last purchases of sales, by the identifier of the sale. */
interface SaleDetails {
  readonly prices: ReadonlyMap<string, readonly Selectable<SalePricesTable>[]>;
  /** Milliseconds: when the last VM was created through a sale that has no volume left. */
  readonly lastPurchases: ReadonlyMap<string | null, number>;
}

async function saleDetailsOf(db: Db, sales: readonly Row[], now: number): Promise<SaleDetails> {
  const ids = sales.map(({ id }) => id);
  const soldOut = sales.filter((sale) => saleEndAt(toSaleCourse(sale), now) === 'by volume').map(({ id }) => id);
  const prices =
    ids.length === 0 ? [] : await db.selectFrom('sale_prices').selectAll().where('sale_id', 'in', ids).orderBy('hostsystem').execute();
  const lastPurchases =
    soldOut.length === 0
      ? []
      : await db
          .selectFrom('vms')
          .select(({ fn }) => ['sale_id', fn.max<number>('created').as('created')])
          .where('sale_id', 'in', soldOut)
          .groupBy('sale_id')
          .execute();
  return {
    prices: Map.groupBy(prices, ({ sale_id }) => sale_id),
    lastPurchases: new Map(lastPurchases.map(({ sale_id, created }) => [sale_id, created])),
  };
}

async function describeSale(db: Db, sale: Row, now: number): Promise<Sale> {
  return toSale(sale, await saleDetailsOf(db, [sale], now), now);
}

function toSale(sale: Row, { prices, lastPurchases }: SaleDetails, now: number): Sale {
  const pricings: Record<string, SalePrices> = {};
  for (const resource of saleResources) {
    for (const price of prices.get(sale.id) ?? []) {
      if (price.resource === resource) (pricings[price.hostsystem] ??= {})[resource] = decimalOf(BigInt(price.price_net));
    }
  }
  return {
    id: sale.id,
    title: sale.title,
    start_date: toInstant(sale.start),
    stop_date: toInstantOrNull(sale.stop),
    upgradable: sale.upgradable === 1,
    max_volume: sale.max_volume,
    pricings,
    account_id: sale.account_id,
    state: saleStateAt(toSaleCourse(sale), now),
    ended: toInstantOrNull(endOf(sale, lastPurchases.get(sale.id), now)),
    used_volume: sale.used_volume,
  };
}

/** When a sale ended. A sale without volume ended with the last VM that was created through it. */
function endOf(sale: Row, lastPurchase: number | undefined, now: number): number | null {
  switch (saleEndAt(toSaleCourse(sale), now)) {
    case undefined:
      return null;
    case 'by hand':
      return sale.ended;
    case 'by date':
      return sale.stop;
    case 'by volume':
      return lastPurchase ?? sale.start;
  }
}

/** `saleStateAt` as an SQL condition, so that pages of a state are complete. */
function isInState(state: SaleState, now: number): RawBuilder<boolean> {
  const ended = sql`(coalesce(ended <= ${now}, false) or coalesce(stop <= ${now}, false) or used_volume >= max_volume)`;
  switch (state) {
    case 'ended':
      return sql<boolean>`${ended}`;
    case 'active':
      return sql<boolean>`not ${ended} and start <= ${now}`;
    case 'scheduled':
      return sql<boolean>`not ${ended} and start > ${now}`;
  }
}
