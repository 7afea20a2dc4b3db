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
  const perCent = denominator * UNITS_PER_CENT;
  const cents = exact.map((amount) => amount / perCent);
  const missing = total / UNITS_PER_CENT - cents.reduce((sum, one) => sum + one, 0n);
  const byLoss = exact
    .map((amount, index) => ({ index, loss: amount % perCent }))
    .toSorted((one, other) => (one.loss === other.loss ? one.index - other.index : one.loss > other.loss ? -1 : 1));
  for (const { index } of byLoss.slice(0, Number(missing))) cents[index] = (cents[index] ?? 0n) + 1n;
  return cents.map((amount) => amount * UNITS_PER_CENT);
}
