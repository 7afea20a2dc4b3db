/** The credit limit (specification: "Limits", "Invoice"). */
import type { Money } from './money.ts';

/** What a purchase is judged by. */
export interface Credit {
  readonly limit: Money;
  /** Totals of the invoices that are not paid. */
  readonly unpaid: Money;
  /** Holds of this period: at least what its invoice will ask. */
  readonly held: Money;
}

/** What further purchases may still hold. */
export function availableCredit({ limit, unpaid, held }: Credit): Money {
  return limit - unpaid - held;
}

/** `creditLimitRemaining` of the current invoice: the limit without unpaid invoices and the running total. */
export function remainingCredit(limit: Money, unpaid: Money, runningTotal: Money): Money {
  return limit - unpaid - runningTotal;
}
