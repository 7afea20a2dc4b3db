/** The credit limit (specification: "Limits", "Invoice"). */
import { roundHalfUpToCents, roundUpToCents } from './money.ts';
import type { Money } from './money.ts';

/** The amounts of an account that decide whether it may buy more. */
export interface Credit {
  readonly limit: Money;
  /** The net amount that the balance of the account pays together with its VAT. */
  readonly balance: Money;
  /** The amount left to pay of the open invoices, without VAT. */
  readonly unpaid: Money;
  /** The estimated total of the current period, and the price of every order that is being delivered. */
  readonly held: Money;
}

/**
 * `creditLimitRemaining`, in whole cents. Purchases are checked against this number. Renewals or a lowered limit can make it negative.
 *
 * It is rounded half up, not half to even, so that a purchase of whole cents lowers it by exactly its price.
 */
export function remainingCredit({ limit, balance, unpaid, held }: Credit): Money {
  return limit + balance - unpaid - roundHalfUpToCents(held);
}

/** The amounts that add up to the remaining credit, in whole cents. */
export interface ExplainedCredit {
  readonly limit: Money;
  readonly balance: Money;
  readonly unpaid: Money;
  readonly estimate: Money;
  readonly pending: Money;
  /** The limit and the balance less the other amounts. */
  readonly remaining: Money;
}

/** @param pending The part of `held` for orders that are being delivered. */
export function explainCredit(credit: Credit, pending: Money): ExplainedCredit {
  const { limit, balance, unpaid, held } = credit;
  const estimate = roundHalfUpToCents(held - pending);
  return { limit, balance, unpaid, estimate, pending: roundHalfUpToCents(held) - estimate, remaining: remainingCredit(credit) };
}

/** The remaining credit that a purchase needs, in whole cents. */
export function neededCredit(amount: Money): Money {
  return roundUpToCents(amount);
}
