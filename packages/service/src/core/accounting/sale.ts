/** Stored sales (specification: "Sale"). */
import { sql } from 'kysely';
import type { Selectable } from 'kysely';

import { offersFor, saleResources, saleStateAt } from '../../rules/sale.ts';
import type { PricedOffer, SaleCourse, SalePrices, SaleState } from '../../rules/sale.ts';
import type { BilledResources, ResourcePrices } from '../../rules/resources.ts';
import { prepared, preparedWrite } from '../../store/prepared.ts';
import type { SalesTable } from '../../store/tables/sales.ts';
import type { Db } from '../../store/store.ts';

/** Descriptions of the properties of a sale, for people. */
export interface SaleDescriptions {
  readonly startDate: string;
  readonly stopDate: string;
  readonly upgradable: string;
  readonly maxVolume: string;
  readonly usedVolume: string;
  readonly pricings: string;
}

/** A sale that has not ended. */
export interface OpenSale extends SaleCourse {
  readonly id: string;
  readonly title: string;
  readonly state: SaleState;
  readonly upgradable: boolean;
  /** Prices by name of the host system. */
  readonly pricings: ReadonlyMap<string, SalePrices>;
  readonly descriptions: SaleDescriptions;
}

/**
 * The scheduled and active sales that an account may use: those for all accounts and its own, ordered by start.
 *
 * @param now Milliseconds.
 */
export async function openSales(db: Db, accountId: string, now: number): Promise<OpenSale[]> {
  const rows = await db
    .selectFrom('sales')
    .selectAll()
    .where((sale) => sale.or([sale('account_id', 'is', null), sale('account_id', '=', accountId)]))
    // The query skips most of the ended sales. The rule decides about the others.
    .where('ended', 'is', null)
    .where((sale) => sale.or([sale('stop', 'is', null), sale('stop', '>', now)]))
    .orderBy('start')
    .orderBy('id')
    .execute();
  const sales = rows
    .map((row) => {
      const course = toSaleCourse(row);
      return {
        ...course,
        upgradable: row.upgradable === 1,
        descriptions: parseDescriptions(row.descriptions),
        state: saleStateAt(course, now),
      };
    })
    .filter(({ state }) => state !== 'ended');
  if (sales.length === 0) return [];
  const ids = sales.map(({ id }) => id);
  const prices = await db.selectFrom('sale_prices').selectAll().where('sale_id', 'in', ids).orderBy('hostsystem').execute();
  return sales.map((sale) => ({ ...sale, pricings: byHostsystem(prices.filter(({ sale_id }) => sale_id === sale.id)) }));
}

/** A purchase that may go through a sale. */
export interface SalePurchase {
  readonly accountId: string;
  readonly hostsystem: string;
  readonly vm: BilledResources;
  readonly standard: ResourcePrices;
  /** Milliseconds. */
  readonly now: number;
}

/**
 * Takes volume of the sale that is best for the customer. A conditional update for each candidate ensures that a sale never exceeds its
 * volume.
 *
 * @returns The sale and the price of the VM in it. Undefined if standard prices apply.
 */
export async function takeSale(db: Db, { accountId, hostsystem, vm, standard, now }: SalePurchase): Promise<PricedOffer | undefined> {
  const prices = await pricesInSales(db, { accountId, hostsystem, now });
  const active = [...Map.groupBy(prices, ({ id }) => id).values()].flatMap((rows) => {
    const [sale] = rows;
    return sale && saleStateAt(toSaleCourse(sale), now) === 'active'
      ? [{ id: sale.id, start: sale.start, upgradable: sale.upgradable === 1, prices: pricesFrom(rows) }]
      : [];
  });
  for (const offer of active.length === 0 ? [] : offersFor(vm, standard, active)) {
    if ((await takeVolume(db, { id: offer.id })) > 0) return offer;
  }
  return undefined;
}

interface SaleOnHost extends Pick<Selectable<SalesTable>, 'id' | 'start' | 'stop' | 'ended' | 'upgradable' | 'max_volume' | 'used_volume'> {
  readonly resource: string;
  readonly price_net: number;
}

/** The prices on a host system of the sales that an account may use. The rule decides which of them are active. */
const pricesInSales = prepared<{ accountId: string; hostsystem: string; now: number }, SaleOnHost>((db, parameter) =>
  db
    .selectFrom('sales')
    .innerJoin('sale_prices', 'sale_prices.sale_id', 'sales.id')
    .select(['sales.id', 'sales.start', 'sales.stop', 'sales.ended', 'sales.upgradable', 'sales.max_volume', 'sales.used_volume'])
    .select(['sale_prices.resource', 'sale_prices.price_net'])
    .where((sale) => sale.or([sale('sales.account_id', 'is', null), sale('sales.account_id', '=', parameter('accountId'))]))
    .where('sales.ended', 'is', null)
    .where((sale) => sale.or([sale('sales.stop', 'is', null), sale('sales.stop', '>', parameter('now'))]))
    .where('sale_prices.hostsystem', '=', parameter('hostsystem')),
);

const takeVolume = preparedWrite<{ id: string }>((db, parameter) =>
  db
    .updateTable('sales')
    .set({ used_volume: sql<number>`used_volume + 1` })
    .where('id', '=', parameter('id'))
    .where('ended', 'is', null)
    .where(sql<boolean>`used_volume + 1 <= max_volume`),
);

/** Returns the volume that a purchase took of a sale. */
export async function giveVolumeBack(db: Db, saleId: string): Promise<void> {
  await db
    .updateTable('sales')
    .set({ used_volume: sql<number>`used_volume - 1` })
    .where('id', '=', saleId)
    .execute();
}

/** The prices of a sale on a host system. Undefined if they end with an up- or downgrade. */
export async function lastingPrices(db: Db, saleId: string, hostsystem: string): Promise<SalePrices | undefined> {
  const sale = await db.selectFrom('sales').select('upgradable').where('id', '=', saleId).executeTakeFirstOrThrow();
  if (sale.upgradable !== 1) return undefined;
  const prices = await db
    .selectFrom('sale_prices')
    .selectAll()
    .where('sale_id', '=', saleId)
    .where('hostsystem', '=', hostsystem)
    .execute();
  return byHostsystem(prices).get(hostsystem);
}

/** A stored sale as the rules take it. */
export function toSaleCourse<Row extends { readonly max_volume: number; readonly used_volume: number }>(row: Row) {
  return { ...row, maxVolume: row.max_volume, usedVolume: row.used_volume };
}

function byHostsystem(rows: readonly { hostsystem: string; resource: string; price_net: number }[]): Map<string, SalePrices> {
  const byName = Map.groupBy(rows, ({ hostsystem }) => hostsystem);
  return new Map([...byName].map(([name, prices]) => [name, pricesFrom(prices)]));
}

function pricesFrom(rows: readonly { resource: string; price_net: number }[]): SalePrices {
  const prices = saleResources.flatMap((resource) => {
    const row = rows.find((price) => price.resource === resource);
    return row ? [[resource, BigInt(row.price_net)] as const] : [];
  });
  return Object.fromEntries(prices);
}

function parseDescriptions(descriptions: string): SaleDescriptions {
  return JSON.parse(descriptions);
}
