/** The credit limit (specification: "Limits", "Invoice"). */
import { roundHalfUpToCents, roundUpToCents } from './money.ts';
import type { Money } from './money.ts';

/** The amounts of an account that decide whether it may buy more. */
export interface Credit {
  readonly limit: Money;
  /** Totals of the invoices that are not paid. */
  readonly unpaid: Money;
  /** The estimated total of the running period, and the price of every order that is still being delivered. */
  readonly held: Money;
}

/**
 * `creditLimitRemaining`, in whole cents: the one number that decides about a purchase. It is
 * negative where renewals or a lowered limit have gone beyond the limit.
 *
 * Rounded half up and not half to even, so that a purchase of whole cents lowers it by exactly its price.
 */
export function remainingCredit({ limit, unpaid, held }: Credit): Money {
  return limit - unpaid - roundHalfUpToCents(held);
}

/** The amount that must remain for a purchase to pass, in whole cents. */
export function neededCredit(amount: Money): Money {
  return roundUpToCents(amount);
}
