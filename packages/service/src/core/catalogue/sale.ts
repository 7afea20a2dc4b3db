/** Stored sales (specification: "Sale"). */
import { sql } from 'kysely';

import type { BilledResources, ResourcePrices } from '../../rules/resources.ts';
import { offersFor, saleResources, saleStateAt } from '../../rules/sale.ts';
import type { PricedOffer, SaleCourse, SalePrices, SaleState } from '../../rules/sale.ts';
import { prepared } from '../../store/prepared.ts';
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

/** A sale that the provider has not ended, with its prices by host system. */
export interface PricedSale extends SaleCourse, Pick<OpenSale, 'id' | 'upgradable' | 'pricings'> {
  /** Null for every account. */
  readonly accountId: string | null;
}

/** Reads the sales for the catalogue. */
export async function pricedSales(db: Db): Promise<PricedSale[]> {
  const rows = await db.selectFrom('sales').selectAll().where('ended', 'is', null).orderBy('start').orderBy('id').execute();
  const ids = rows.map(({ id }) => id);
  const prices = ids.length === 0 ? [] : await db.selectFrom('sale_prices').selectAll().where('sale_id', 'in', ids).execute();
  const bySale = Map.groupBy(prices, ({ sale_id }) => sale_id);
  return rows.map((row) => ({
    ...toSaleCourse(row),
    accountId: row.account_id,
    upgradable: row.upgradable === 1,
    pricings: byHostsystem(bySale.get(row.id) ?? []),
  }));
}

/** A purchase that may go through a sale. */
export interface SalePurchase {
  /** From the catalogue. */
  readonly sales: readonly PricedSale[];
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
export async function takeSale(db: Db, purchase: SalePurchase): Promise<PricedOffer | undefined> {
  for (const offer of activeOffers(purchase)) {
    const [taken] = await takeVolume(db, { id: offer.id });
    if (taken) return offer;
  }
  return undefined;
}

/** The sale that `takeSale` would take now. */
export async function presentSale(db: Db, purchase: SalePurchase): Promise<PricedOffer | undefined> {
  for (const offer of activeOffers(purchase)) {
    const { remainingVolume } = await quotedSale(db, offer.id, purchase.now);
    if (remainingVolume > 0) return offer;
  }
  return undefined;
}

function activeOffers({ sales, accountId, hostsystem, vm, standard, now }: SalePurchase): PricedOffer[] {
  const active = sales.flatMap((sale) => {
    const prices = sale.pricings.get(hostsystem);
    const isOpen = sale.accountId === null || sale.accountId === accountId;
    return prices && isOpen && saleStateAt(sale, now) === 'active' ? [{ ...sale, prices }] : [];
  });
  return active.length === 0 ? [] : offersFor(vm, standard, active);
}

/** A sale as a quote describes it. */
export interface DescribedSale extends Pick<SaleCourse, 'stop'> {
  readonly title: string;
  readonly upgradable: boolean;
  /** 0 if it has ended. */
  readonly remainingVolume: number;
}

/** @param now Milliseconds. */
export async function quotedSale(db: Db, id: string, now: number): Promise<DescribedSale> {
  const row = await db.selectFrom('sales').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
  const isActive = saleStateAt(toSaleCourse(row), now) === 'active';
  const remainingVolume = isActive ? row.max_volume - row.used_volume : 0;
  return { title: row.title, upgradable: row.upgradable === 1, stop: row.stop, remainingVolume };
}

const takeVolume = prepared<{ id: string }, { id: string }>((db, parameter) =>
  db
    .updateTable('sales')
    .set({ used_volume: sql<number>`used_volume + 1` })
    .where('id', '=', parameter('id'))
    .where('ended', 'is', null)
    .where(sql<boolean>`used_volume + 1 <= max_volume`)
    .returning('id'),
);

/** Returns the volume that a purchase took from a sale. */
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

/** Converts a stored sale to the input of the rules. */
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
