/** Sales as the store has them (specification: "Sale"). */
import { sql } from 'kysely';

import { offersFor, saleResources, saleStateAt } from '../../rules/sale.ts';
import type { PricedOffer, SaleCourse, SalePrices, SaleState } from '../../rules/sale.ts';
import type { BilledResources, ResourcePrices } from '../../rules/resources.ts';
import type { Db } from '../../store/store.ts';

/** What answers say beside each property of a sale, for people. */
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
 * The scheduled and active sales that an account may use, those for everyone and its own, by their start.
 *
 * @param now Milliseconds.
 */
export async function openSales(db: Db, accountId: string, now: number): Promise<OpenSale[]> {
  const rows = await db
    .selectFrom('sales')
    .selectAll()
    .where((sale) => sale.or([sale('account_id', 'is', null), sale('account_id', '=', accountId)]))
    // Those that ended long ago are many; which of the others are open is the rule's to say.
    .where('ended', 'is', null)
    .where((sale) => sale.or([sale('stop', 'is', null), sale('stop', '>', now)]))
    .orderBy('start')
    .orderBy('id')
    .execute();
  const sales = rows
    .map(({ max_volume, used_volume, upgradable, descriptions, ...row }) => {
      const course = { ...row, maxVolume: max_volume, usedVolume: used_volume };
      return { ...course, upgradable: upgradable === 1, descriptions: parsed(descriptions), state: saleStateAt(course, now) };
    })
    .filter(({ state }) => state !== 'ended');
  if (sales.length === 0) return [];
  const ids = sales.map(({ id }) => id);
  const prices = await db.selectFrom('sale_prices').selectAll().where('sale_id', 'in', ids).orderBy('hostsystem').execute();
  return sales.map((sale) => ({ ...sale, pricings: byHostsystem(prices.filter(({ sale_id }) => sale_id === sale.id)) }));
}

/** What a purchase is, to the sales. */
export interface SalePurchase {
  readonly accountId: string;
  readonly hostsystem: string;
  readonly vm: BilledResources;
  readonly standard: ResourcePrices;
  /** Milliseconds. */
  readonly now: number;
}

/**
 * Has a purchase take part in the sale that is best for the customer, where one has volume left:
 * one conditional update for each candidate, so no more VMs than its maximum ever go through a sale.
 *
 * @returns The sale with what the VM costs in it; undefined where standard prices apply.
 */
export async function takeSale(db: Db, { accountId, hostsystem, vm, standard, now }: SalePurchase): Promise<PricedOffer | undefined> {
  const active = (await openSales(db, accountId, now)).filter(({ state }) => state === 'active');
  const sales = active.map(({ id, start, upgradable, pricings }) => ({ id, start, upgradable, prices: pricings.get(hostsystem) ?? {} }));
  for (const offer of offersFor(vm, standard, sales)) {
    const taken = await db
      .updateTable('sales')
      .set({ used_volume: sql<number>`used_volume + 1` })
      .where('id', '=', offer.id)
      .where('ended', 'is', null)
      .where(sql<boolean>`used_volume + 1 <= max_volume`)
      .executeTakeFirst();
    if (taken.numUpdatedRows > 0n) return offer;
  }
  return undefined;
}

/** Gives back what a purchase took of a sale's volume: it was not delivered. */
export async function giveVolumeBack(db: Db, saleId: string): Promise<void> {
  await db
    .updateTable('sales')
    .set({ used_volume: sql<number>`used_volume - 1` })
    .where('id', '=', saleId)
    .execute();
}

/** The prices of a sale on a host system where they outlive an up- or downgrade, else undefined. */
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

function byHostsystem(rows: readonly { hostsystem: string; resource: string; price_net: number }[]): Map<string, SalePrices> {
  const byName = Map.groupBy(rows, ({ hostsystem }) => hostsystem);
  return new Map([...byName].map(([name, prices]) => [name, pricesFrom(prices)]));
}

function pricesFrom(rows: readonly { resource: string; price_net: number }[]): SalePrices {
  const found = saleResources.flatMap((resource) => {
    const row = rows.find((price) => price.resource === resource);
    return row ? [[resource, BigInt(row.price_net)] as const] : [];
  });
  return Object.fromEntries(found);
}

function parsed(descriptions: string): SaleDescriptions {
  return JSON.parse(descriptions);
}
