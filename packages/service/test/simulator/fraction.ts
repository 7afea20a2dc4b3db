/** Exact fractions for amounts in EUR, so that the model rounds only where the specification does. */

/** n / d, d > 0. */
export interface Fraction {
  readonly n: bigint;
  readonly d: bigint;
}

export const ZERO: Fraction = { n: 0n, d: 1n };

/** The service stores money in units of 10^-8 EUR. */
const UNITS = 100_000_000n;

/** An amount written as a decimal, such as `4.20`. */
export function decimal(text: string): Fraction {
  const [whole = '', fraction = ''] = text.split('.');
  return { n: BigInt(whole + fraction), d: 10n ** BigInt(fraction.length) };
}

export function plus(one: Fraction, other: Fraction): Fraction {
  return reduced({ n: one.n * other.d + other.n * one.d, d: one.d * other.d });
}

export function minus(one: Fraction, other: Fraction): Fraction {
  return plus(one, times(other, -1));
}

export function times(one: Fraction, count: number | bigint): Fraction {
  return reduced({ n: one.n * BigInt(count), d: one.d });
}

export function over(one: Fraction, divisor: number | bigint): Fraction {
  return reduced({ n: one.n, d: one.d * BigInt(divisor) });
}

export function sum(amounts: Iterable<Fraction>): Fraction {
  let total = ZERO;
  for (const amount of amounts) total = plus(total, amount);
  return total;
}

export function less(one: Fraction, other: Fraction): boolean {
  return one.n * other.d < other.n * one.d;
}

export function same(one: Fraction, other: Fraction): boolean {
  return one.n * other.d === other.n * one.d;
}

/** As a whole number of 1/scale, rounded half to even. */
export function halfEven({ n, d }: Fraction, scale: bigint): bigint {
  const scaled = n * scale;
  const floor = scaled / d - (scaled % d < 0n ? 1n : 0n);
  const twice = 2n * (scaled - floor * d);
  return twice > d || (twice === d && floor % 2n !== 0n) ? floor + 1n : floor;
}

/** In cents, rounded half to even. */
export function cents(amount: Fraction): bigint {
  return halfEven(amount, 100n);
}

/** In units of 10^-8, rounded up. */
export function unitsUp({ n, d }: Fraction): bigint {
  return (n * UNITS + d - 1n) / d;
}

/** In units of 10^-8. @throws RangeError if the amount is not a whole number of units. */
export function units(amount: Fraction): bigint {
  const whole = halfEven(amount, UNITS);
  if (!same({ n: whole, d: UNITS }, amount)) throw new RangeError(`${amount.n}/${amount.d} EUR is not a whole number of 10^-8 EUR.`);
  return whole;
}

/** Rounded half to even to 10^-8, as the service stores amounts. */
export function rounded(amount: Fraction): Fraction {
  return reduced({ n: halfEven(amount, UNITS), d: UNITS });
}

/** Cents as the number of EUR in a response. */
export function numberOfCents(count: bigint): number {
  return Number(`${count}e-2`);
}

/** An amount as the number of EUR in a response, rounded half to even to 10^-8. */
export function numberOf(amount: Fraction): number {
  return Number(`${halfEven(amount, UNITS)}e-8`);
}

function reduced({ n, d }: Fraction): Fraction {
  let [a, b] = [n < 0n ? -n : n, d];
  while (b > 0n) [a, b] = [b, a % b];
  return { n: n / a, d: d / a };
}
