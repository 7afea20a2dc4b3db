/**
 * Billing of VMs, per second of actual runtime (specification: "What the service does", "Invoice").
 *
 * A price is one of 30 days. A position costs price x seconds / (30 x 86,400): that quotient is
 * not whole, so sums are kept as price-seconds and divided once, at the total.
 * Instants are whole seconds since 1970 UTC: positions that follow one another share theirs, so
 * no second is billed twice and none is left out.
 */
import { divideHalfEven, divideUp, UNITS_PER_CENT } from './money.ts';
import type { Money } from './money.ts';

/** Seconds since 1970-01-01T00:00:00Z. */
export type Seconds = number;

/** Units of 10^-8 EUR times seconds of runtime. */
export type PriceSeconds = bigint;

/** Seconds that a monthly price stands for: 30 days. */
export const SECONDS_PER_PRICE = 30n * 86_400n;

/** What a position says of runtime and price. */
export interface BilledRuntime {
  /** First second that is billed. */
  readonly start: Seconds;
  /** First second that is not billed any more; null while the VM runs on. */
  readonly stop: Seconds | null;
  /** Net price of 30 days. */
  readonly monthlyPrice: Money;
}

/** ISO 8601 in UTC with milliseconds. */
export function isoInstant(instant: Seconds): string {
  return new Date(instant * 1000).toISOString();
}

/** A calendar month, UTC. */
export interface Period {
  readonly start: Seconds;
  /** First second of the next month; the next invoice's date. */
  readonly end: Seconds;
}

/** The calendar month (UTC) that an instant lies in. */
export function periodOf(instant: Seconds): Period {
  const date = new Date(instant * 1000);
  const year = date.getUTCFullYear();
  const month = date.getUTCMonth();
  return { start: Date.UTC(year, month) / 1000, end: Date.UTC(year, month + 1) / 1000 };
}

/** Billed seconds of a position up to an instant. */
export function runtimeOf(position: BilledRuntime, until: Seconds): Seconds {
  return Math.max(0, Math.min(position.stop ?? until, until) - position.start);
}

/** Price-seconds of a position up to an instant. */
export function accruedBy(position: BilledRuntime, until: Seconds): PriceSeconds {
  return position.monthlyPrice * BigInt(runtimeOf(position, until));
}

/** Price-seconds of several positions up to an instant. */
export function accruedByAll(positions: readonly BilledRuntime[], until: Seconds): PriceSeconds {
  return positions.reduce((sum, position) => sum + accruedBy(position, until), 0n);
}

/** The invoice total that price-seconds come to: rounded once, half to even, to cents. In units. */
export function totalOf(accrued: PriceSeconds): Money {
  return divideHalfEven(accrued, SECONDS_PER_PRICE * UNITS_PER_CENT) * UNITS_PER_CENT;
}

/** What price-seconds come to in units, for a single position's line; not for adding up. */
export function amountOf(accrued: PriceSeconds): Money {
  return divideHalfEven(accrued, SECONDS_PER_PRICE);
}

/**
 * What a runtime may cost at the most until the period ends: the hold on the credit limit.
 * Rounded up, so that holds never promise less than the invoice will ask.
 */
export function holdFor(position: BilledRuntime, periodEnd: Seconds): Money {
  return divideUp(accruedBy(position, periodEnd), SECONDS_PER_PRICE);
}

/** An amount that is charged once, as price-seconds, so that it is rounded together with all that accrues. */
export function accruedByCharge(amount: Money): PriceSeconds {
  return amount * SECONDS_PER_PRICE;
}
