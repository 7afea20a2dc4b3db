/** Value-added tax (the specification shows gross prices and no rate: not shown). */
import { inForceAt } from './in-force.ts';
import type { Dated } from './in-force.ts';
import { divideHalfEven, UNITS_PER_CENT } from './money.ts';
import type { Money } from './money.ts';

/** A rate and the instant from which it applies. */
export interface VatRate extends Dated {
  /** Hundredths of a percent. */
  readonly basisPoints: number;
}

export const DEFAULT_VAT_RATES: readonly VatRate[] = [{ basisPoints: 1900, validFrom: 0 }];

/**
 * The rate in force at an instant, in hundredths of a percent.
 *
 * @param rates At least one. The first rate also applies before its `validFrom`.
 * @param now Milliseconds.
 */
export function vatInForce(rates: readonly VatRate[], now: number): number {
  return inForceAt(rates, now).basisPoints;
}

/** A net price with value-added tax, rounded half to even to 10^-8 EUR. */
export function grossOf(net: Money, basisPoints: number): Money {
  return divideHalfEven(net * (10_000n + BigInt(basisPoints)), 10_000n);
}

/** The value-added tax on a net amount, rounded half to even to cents. */
export function vatOn(net: Money, basisPoints: number): Money {
  return divideHalfEven(net * BigInt(basisPoints), 10_000n * UNITS_PER_CENT) * UNITS_PER_CENT;
}
