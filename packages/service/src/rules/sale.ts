/** Discount campaigns for VM host systems (specification: "Sale", and its states and transitions). */
import { decimalOf, euros } from './money.ts';
import type { Money } from './money.ts';
import { monthlyPriceOf } from './resources.ts';
import type { BilledResources, ResourcePrices } from './resources.ts';

/** The data that determine the state of a sale. Instants are milliseconds since 1970 UTC. */
export interface SaleCourse {
  /** The sale is active from this instant. */
  readonly start: number;
  /** The sale has ended at this instant. Null if no end is scheduled. */
  readonly stop: number | null;
  /** When the provider ended it. Null if the provider has not. */
  readonly ended: number | null;
  readonly maxVolume: number;
  readonly usedVolume: number;
}

export type SaleState = 'scheduled' | 'active' | 'ended';

/** Why a sale has ended. */
export type SaleEnd = 'by hand' | 'by date' | 'by volume';

/** Why a sale has ended. Undefined if it has not. */
export function saleEndAt({ stop, ended, maxVolume, usedVolume }: SaleCourse, now: number): SaleEnd | undefined {
  if (ended !== null && ended <= now) return 'by hand';
  if (stop !== null && stop <= now) return 'by date';
  return usedVolume >= maxVolume ? 'by volume' : undefined;
}

/** The state of a sale at an instant, in milliseconds. */
export function saleStateAt(sale: SaleCourse, now: number): SaleState {
  if (saleEndAt(sale, now)) return 'ended';
  return sale.start <= now ? 'active' : 'scheduled';
}

/** The resources that a sale can have prices for. */
export const saleResources = ['core', 'mem', 'nvme'] as const;
export type SaleResource = (typeof saleResources)[number];

/** Net sale prices of 30 days on one host system. */
export type SalePrices = Readonly<Partial<Record<SaleResource, Money>>>;

/** The resources whose sale price is above the standard price, with their standard prices. */
export function dearerInSale(sale: SalePrices, standard: ResourcePrices): { readonly resource: SaleResource; readonly standard: string }[] {
  return saleResources.flatMap((resource) => {
    const price = sale[resource];
    return price !== undefined && price > euros(standard[resource]) ? [{ resource, standard: standard[resource] }] : [];
  });
}

/** The prices in a sale. Resources without a sale price keep their standard prices. */
export function pricesInSale(standard: ResourcePrices, sale: SalePrices): ResourcePrices {
  const listed = saleResources.flatMap((resource) => {
    const price = sale[resource];
    return price === undefined ? [] : [[resource, decimalOf(price)] as const];
  });
  return { ...standard, ...Object.fromEntries(listed) };
}

/** An active sale that a purchase may go through. */
export interface SaleOffer {
  readonly id: string;
  readonly start: number;
  readonly upgradable: boolean;
  readonly prices: SalePrices;
}

/** A sale with the price of the VM in it. */
export interface PricedOffer extends SaleOffer {
  readonly monthlyPrice: Money;
}

/**
 * The sales that make a VM cheaper, best first: the lowest price, then prices that stay after an upgrade, then the older sale.
 */
export function offersFor(vm: BilledResources, standard: ResourcePrices, sales: readonly SaleOffer[]): PricedOffer[] {
  const standardPrice = monthlyPriceOf(vm, standard);
  return sales
    .map((sale) => ({ ...sale, monthlyPrice: monthlyPriceOf(vm, pricesInSale(standard, sale.prices)) }))
    .filter(({ monthlyPrice }) => monthlyPrice < standardPrice)
    .toSorted((one, other) => {
      if (one.monthlyPrice !== other.monthlyPrice) return one.monthlyPrice < other.monthlyPrice ? -1 : 1;
      if (one.upgradable !== other.upgradable) return one.upgradable ? -1 : 1;
      return one.start - other.start || (one.id < other.id ? -1 : 1);
    });
}
