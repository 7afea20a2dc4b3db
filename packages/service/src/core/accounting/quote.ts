/** Quotes: the price of a purchase before it is made. Their prices come from the functions that bill. */
import type { Quote, QuotePart } from '@reseller/client/extension';

import { accruedByCharge, SECONDS_PER_PRICE, totalOf } from '../../rules/billing.ts';
import type { PriceSeconds, Seconds } from '../../rules/billing.ts';
import { neededCredit } from '../../rules/credit.ts';
import { secondsToInstant } from '../../rules/instants.ts';
import { decimalOf, euros, numberOf } from '../../rules/money.ts';
import type { Money } from '../../rules/money.ts';
import { MB_PER_GB, pricedResources } from '../../rules/resources.ts';
import type { BilledResources, ResourcePrices } from '../../rules/resources.ts';
import { grossOf, splitByRate, taxed, vatInForce } from '../../rules/vat.ts';
import type { VatRate } from '../../rules/vat.ts';
import type { DescribedSale } from '../catalogue/sale.ts';

/** An amount and the instant whose VAT rate it has. */
interface Supply {
  readonly at: Seconds;
  readonly accrued: PriceSeconds;
}

/** A purchase with its price. */
export interface QuotedPurchase {
  readonly price: Money;
  readonly time: Quote['price']['time'];
  /** The amounts that it adds to the invoice of the period. */
  readonly supplies: readonly Supply[];
  readonly periodEnd: Seconds;
  /** The credit that it needs, exactly. */
  readonly hold: Money;
  readonly parts: readonly QuotePart[];
  readonly sale?: DescribedSale | undefined;
  readonly endedSale?: DescribedSale | undefined;
  /** The VMs whose prices add up to the price, if there are several. */
  readonly vms?: readonly QuotedVm[];
}

/** A VM and its net price of 30 days. */
interface QuotedVm {
  readonly vmId: number;
  readonly price: Money;
  readonly endedSale: DescribedSale | undefined;
}

interface NetAndGross {
  readonly net: Money;
  readonly gross: Money;
}

/** The account that would buy, and when. */
interface QuotedFor {
  readonly rates: readonly VatRate[];
  /** The credit that the account holds already. */
  readonly held: Money;
  /** Milliseconds. */
  readonly now: number;
}

export function quotedAmounts(
  { price, supplies, hold }: QuotedPurchase,
  { rates, held, now }: QuotedFor,
): { readonly price: NetAndGross; readonly untilPeriodEnd: NetAndGross; readonly credit: Money } {
  return {
    price: { net: price, gross: grossOf(price, vatInForce(rates, now)) },
    untilPeriodEnd: invoicedAlone(supplies, rates),
    credit: neededCredit(hold, held),
  };
}

export function toQuote(purchase: QuotedPurchase, buyer: QuotedFor): Quote {
  const { time, periodEnd, parts, sale, endedSale, vms } = purchase;
  const { price, untilPeriodEnd, credit } = quotedAmounts(purchase, buyer);
  return {
    price: { net: numberOf(price.net), gross: numberOf(price.gross), time },
    untilPeriodEnd: { net: numberOf(untilPeriodEnd.net), gross: numberOf(untilPeriodEnd.gross) },
    periodEnd: secondsToInstant(periodEnd),
    neededCredit: numberOf(credit),
    parts: [...parts],
    sale: sale
      ? {
          title: sale.title,
          upgradable: sale.upgradable,
          stopDate: sale.stop === null ? null : new Date(sale.stop).toISOString(),
          remainingVolume: sale.remainingVolume,
        }
      : null,
    endedSale: endedSale?.title ?? null,
    ...(vms && {
      vms: vms.map((vm) => ({ vmid: vm.vmId, net: numberOf(vm.price), endedSale: vm.endedSale?.title ?? null })),
    }),
  };
}

/** The amounts of an invoice with these supplies alone. */
function invoicedAlone(supplies: readonly Supply[], rates: readonly VatRate[]): NetAndGross {
  const amounts = supplies.map(({ at, accrued }) => ({ basisPoints: vatInForce(rates, at * 1000), exact: accrued }));
  const net = totalOf(amounts.reduce((sum, { exact }) => sum + exact, 0n));
  const { sums } = taxed(amounts, SECONDS_PER_PRICE, net);
  return { net, gross: sums.reduce((sum, one) => sum + one.net + one.vat, 0n) };
}

/** The runtime of a VM until the period ends, by VAT rate. */
export function runtimeOfVm(price: Money, rates: readonly VatRate[], { start, stop }: { start: Seconds; stop: Seconds }): Supply[] {
  return splitByRate(rates, start, stop).map((part) => ({ at: part.start, accrued: price * BigInt(part.stop - part.start) }));
}

/** A purchase with one price, which is charged at each of several instants. */
interface Charges extends Pick<QuotedPurchase, 'price' | 'time' | 'periodEnd'> {
  readonly part: QuotePart['name'];
  readonly charges: readonly Seconds[];
}

export function quotedCharges({ part, charges, ...purchase }: Charges): QuotedPurchase {
  const { price } = purchase;
  return {
    ...purchase,
    supplies: charges.map((at) => ({ at, accrued: accruedByCharge(price) })),
    hold: price * BigInt(charges.length),
    parts: [{ name: part, quantity: 1, priceNet: decimalOf(price), net: numberOf(price), inSale: false }],
  };
}

/** @param inSale The resources whose prices are those of a sale. */
export function partsOfVm(vm: BilledResources, prices: ResourcePrices, inSale: object = {}): QuotePart[] {
  return pricedResources(vm, prices).map(({ name, quantity, price, amount }) => ({
    name,
    quantity: Number(quantity) / Number(MB_PER_GB),
    priceNet: decimalOf(euros(price)),
    net: numberOf(amount),
    inSale: name in inSale,
  }));
}
