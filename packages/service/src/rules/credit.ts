/** The limits of a purchase: the credit limit (specification: "Limits", "Invoice"), and the price guard of the extension. */
import { decimalOf, euros, numberOf, roundToCents } from './money.ts';
import type { Money } from './money.ts';
import { Refusal } from './refusal.ts';

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
 * The held amount is rounded like the total of an invoice, so that a limit buys what is invoiced within it.
 */
export function remainingCredit({ limit, balance, unpaid, held }: Credit): Money {
  return limit + balance - unpaid - roundToCents(held);
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
  const estimate = roundToCents(held - pending);
  return { limit, balance, unpaid, estimate, pending: roundToCents(held) - estimate, remaining: remainingCredit(credit) };
}

/**
 * The remaining credit that a purchase needs and takes, in whole cents. Only the sum of all amounts is rounded, so it depends on the amount that is
 * held already. A purchase that lowers the estimate of the period needs none.
 */
export function neededCredit(amount: Money, held: Money): Money {
  return amount > 0n ? roundToCents(held + amount) - roundToCents(held) : 0n;
}

/**
 * The most that a month of an account can cost if it keeps everything. Amounts are integers below 2^53 units, 90 million EUR, which unpaid
 * invoices of several months must not reach.
 */
const MAX_MONTH = euros('10000000.00');

/** Orders of less cannot reach the limit by their number. */
export const SMALL_MONTH = euros('1000.00');

/** Prices of less for all VMs of a host system, or all domains of a TLD, cannot exceed the amounts of an account by their number. */
export const LARGE_MONTH = euros('100000.00');

/**
 * @param month The cost of a month of everything that the account has and orders.
 * @param account The account, as the sentence names it.
 * @returns Why the order or the prices are refused. Undefined if the month can be billed.
 */
export function brokenMonth(month: Money, account = 'this account'): string | undefined {
  if (month <= MAX_MONTH) return undefined;
  return `a month of ${account} would cost ${decimalOf(month)} EUR, and the service bills at most ${decimalOf(MAX_MONTH)} EUR`;
}

/**
 * The price guard of the extension: a purchase names the highest net price that it accepts (`max_price`).
 *
 * @param price Net price: of 30 days of a VM, of the first year of a domain, of one runtime of a dedicated server.
 * @param maxPrice The field of the form, in EUR. Undefined accepts every price.
 * @param what The price, as the message names it.
 * @throws Refusal 412 if the price is higher.
 */
export function assertPriceAccepted(price: Money, maxPrice: string | undefined, what = 'The net price'): void {
  if (maxPrice === undefined || price <= euros(maxPrice)) return;
  throw new Refusal(
    412,
    'precondition_failed',
    `${what} is ${decimalOf(price)} EUR, which is more than the max_price ${maxPrice} EUR, so nothing was bought. Check the current prices, then send a higher max_price or none.`,
    { data: { net: numberOf(price), max_price: Number(maxPrice) } },
  );
}
