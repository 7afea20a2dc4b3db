/** The credit limit (specification: "Limits", "Invoice"). */
import { roundHalfUpToCents, roundUpToCents } from './money.ts';
import type { Money } from './money.ts';

/** The amounts of an account that decide whether it may buy more. */
export interface Credit {
  readonly limit: Money;
  /** Sum of the open invoices. */
  readonly unpaid: Money;
  /** The estimated total of the current period, and the price of every order that is being delivered. */
  readonly held: Money;
}

/**
 * `creditLimitRemaining`, in whole cents. Purchases are checked against this number. Renewals or a lowered limit can make it negative.
 *
 * It is rounded half up, not half to even, so that a purchase of whole cents lowers it by exactly its price.
 */
export function remainingCredit({ limit, unpaid, held }: Credit): Money {
  return limit - unpaid - roundHalfUpToCents(held);
}

/** The remaining credit that a purchase needs, in whole cents. */
export function neededCredit(amount: Money): Money {
  return roundUpToCents(amount);
}
