/**
 * Billing of VMs, per second of actual runtime (specification: "What the service does", "Invoice").
 *
 * A price is for 30 days. A position costs price x seconds / (30 x 86,400). That quotient is not an integer, so sums are in price-seconds
 * and divided once, at the total. Instants are whole seconds since 1970 UTC. A position begins at the instant at which the previous one
 * ends, so that each second is billed once.
 */
import { divideHalfEven, divideUp, UNITS_PER_CENT } from './money.ts';
import type { Money } from './money.ts';

/** Seconds since 1970-01-01T00:00:00Z. */
export type Seconds = number;

/** Units of 10^-8 EUR times seconds of runtime. */
export type PriceSeconds = bigint;

/** A monthly price is for 30 days. */
export const SECONDS_PER_PRICE = 30n * 86_400n;

/** The runtime and the price of a position. */
export interface BilledRuntime {
  /** The first billed second. */
  readonly start: Seconds;
  /** The first second after the billed runtime. Null while the VM runs. */
  readonly stop: Seconds | null;
  /** Net price of 30 days. */
  readonly monthlyPrice: Money;
}

/** A calendar month, UTC. */
export interface Period {
  readonly start: Seconds;
  /** First second of the next month, and the date of the invoice. */
  readonly end: Seconds;
}

/** The calendar month (UTC) of an instant. */
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

/** The invoice total of price-seconds, in units: rounded once, half to even, to cents. */
export function totalOf(accrued: PriceSeconds): Money {
  return divideHalfEven(accrued, SECONDS_PER_PRICE * UNITS_PER_CENT) * UNITS_PER_CENT;
}

/** The amount of price-seconds in units. Only for the line of a position: sums would accumulate rounding errors. */
export function amountOf(accrued: PriceSeconds): Money {
  return divideHalfEven(accrued, SECONDS_PER_PRICE);
}

/** The hold of a position: its maximum cost until the period ends, rounded up so that it is never below the invoice. */
export function holdFor(position: BilledRuntime, periodEnd: Seconds): Money {
  return divideUp(accruedBy(position, periodEnd), SECONDS_PER_PRICE);
}

/** A single charge as price-seconds, so that it is rounded together with the positions. */
export function accruedByCharge(amount: Money): PriceSeconds {
  return amount * SECONDS_PER_PRICE;
}
