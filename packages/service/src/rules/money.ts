/** Money as an exact integer of 10^-8 EUR. Prices, holds and totals use this unit. Only responses convert it to a number. */

/** Units of 10^-8 EUR. */
export type Money = bigint;

/** Units in one EUR. */
export const UNITS_PER_EURO = 100_000_000n;

/** Units in one cent. */
export const UNITS_PER_CENT = UNITS_PER_EURO / 100n;

const DECIMAL = /^(-?)(\d{1,9})(?:\.(\d{1,8}))?$/;

/**
 * Parses a decimal amount.
 *
 * @param decimal EUR with up to eight decimals, such as `'4.20'`.
 * @throws RangeError if the text is not such an amount.
 */
export function euros(decimal: string): Money {
  const match = DECIMAL.exec(decimal);
  if (!match) throw new RangeError(`'${decimal}' is not an amount in EUR. Write digits with up to eight decimals, such as 4.20.`);
  const [, sign, whole = '', fraction = ''] = match;
  const units = BigInt(whole) * UNITS_PER_EURO + BigInt(fraction.padEnd(8, '0'));
  return sign === '-' ? -units : units;
}

/** The decimal notation of an amount, without trailing zeros beyond the cents: `4.20`, `0.00385802`. */
export function decimalOf(amount: Money): string {
  const absolute = amount < 0n ? -amount : amount;
  const whole = absolute / UNITS_PER_EURO;
  const fraction = (absolute % UNITS_PER_EURO)
    .toString()
    .padStart(8, '0')
    .replace(/0{1,6}$/, '');
  return `${amount < 0n ? '-' : ''}${whole}.${fraction}`;
}

/** The amount in EUR as a JSON number: the double nearest to the decimal notation, so that clients print that notation. */
export function numberOf(amount: Money): number {
  return Number(decimalOf(amount));
}

/**
 * Quotient of two integers, rounded half to even.
 *
 * @param numerator Any integer.
 * @param denominator A positive integer.
 * @throws RangeError if the denominator is not positive.
 */
export function divideHalfEven(numerator: bigint, denominator: bigint): bigint {
  if (denominator <= 0n) throw new RangeError('The denominator must be positive.');
  const floor = numerator / denominator - (numerator % denominator < 0n ? 1n : 0n);
  const twice = 2n * (numerator - floor * denominator);
  if (twice < denominator) return floor;
  if (twice > denominator) return floor + 1n;
  return floor % 2n === 0n ? floor : floor + 1n;
}

/** Quotient of two non-negative integers, rounded up. */
export function divideUp(numerator: bigint, denominator: bigint): bigint {
  return (numerator + denominator - 1n) / denominator;
}

/** The amount rounded half to even to whole cents, in units. */
export function roundToCents(amount: Money): Money {
  return divideHalfEven(amount, UNITS_PER_CENT) * UNITS_PER_CENT;
}

/** A non-negative amount rounded half up to whole cents, in units. */
export function roundHalfUpToCents(amount: Money): Money {
  return ((amount + UNITS_PER_CENT / 2n) / UNITS_PER_CENT) * UNITS_PER_CENT;
}
