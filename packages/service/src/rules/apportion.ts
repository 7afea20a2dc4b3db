import { resultOf } from './computation.ts';
import type { Computation } from './computation.ts';
/** How a rounded total is divided among the lines of an invoice. */
import { UNITS_PER_CENT } from './money.ts';
import type { Money } from './money.ts';

/**
 * Divides a total in whole cents among lines, so that the lines add up to it. Each line is its exact amount rounded down to cents. The
 * remaining cents go to the lines with the largest remainders. Of equal ones, the earlier line comes first.
 *
 * @param exact The exact amounts as fractions of one denominator. None is negative.
 * @param total Units. The sum of the exact amounts, rounded to cents.
 * @returns Units, in whole cents, in the order of the lines.
 */
export function apportionCents(exact: readonly bigint[], denominator: bigint, total: Money): Money[] {
  return resultOf(apportionCentsInSteps(exact, denominator, total));
}

/** Like `apportionCents`, for many lines. */
export function* apportionCentsInSteps(exact: readonly bigint[], denominator: bigint, total: Money): Computation<Money[]> {
  const perCent = denominator * UNITS_PER_CENT;
  const lines: { readonly index: number; readonly loss: bigint; cents: bigint }[] = [];
  let missing = total / UNITS_PER_CENT;
  for (const [index, amount] of exact.entries()) {
    const cents = amount / perCent;
    lines.push({ index, loss: amount % perCent, cents });
    missing -= cents;
    yield;
  }
  const byLoss = lines.toSorted((one, other) => (one.loss === other.loss ? one.index - other.index : one.loss > other.loss ? -1 : 1));
  for (const line of byLoss.slice(0, Number(missing))) line.cents += 1n;
  yield;
  return lines.map(({ cents }) => cents * UNITS_PER_CENT);
}
