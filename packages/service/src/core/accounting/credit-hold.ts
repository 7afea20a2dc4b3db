import { sql } from 'kysely';

import { explainCredit, neededCredit, remainingCredit } from '../../rules/credit.ts';
import type { Credit, ExplainedCredit } from '../../rules/credit.ts';
import { decimalOf, UNITS_PER_CENT } from '../../rules/money.ts';
import type { Money } from '../../rules/money.ts';
import { Refusal } from '../../rules/refusal.ts';
import { prepared } from '../../store/prepared.ts';
import type { Db } from '../../store/store.ts';
import { heldByOrders } from './pending-hold.ts';

/**
 * Holds an amount of the account's credit. A conditional update ensures that concurrent purchases never exceed the limit.
 *
 * @param amount The maximum cost of the purchase until the period ends. An amount of 0 is always held.
 * @throws Refusal 402 if the remaining credit does not suffice.
 */
export async function holdCredit(db: Db, accountId: string, amount: Money): Promise<void> {
  if (amount <= 0n) return addHold(db, accountId, amount);
  const needed = neededCredit(amount);
  const [held] = await holdWithinLimit(db, { accountId, amount, needed });
  if (held) return;
  const remaining = remainingCredit(await storedCredit(db, accountId));
  throw new Refusal(
    402,
    'credit_limit_exceeded',
    `This purchase needs ${decimalOf(needed)} EUR of the credit limit, and ${decimalOf(remaining > 0n ? remaining : 0n)} EUR remain. Pay open invoices, choose less, or ask the provider for a higher credit limit.`,
  );
}

async function storedCredit(db: Db, accountId: string): Promise<Credit> {
  const { credit_limit, balance_credit, unpaid, held } = await db
    .selectFrom('accounts')
    .select(['credit_limit', 'balance_credit', 'unpaid', 'held'])
    .where('id', '=', accountId)
    .executeTakeFirstOrThrow();
  return { limit: BigInt(credit_limit), balance: BigInt(balance_credit), unpaid: BigInt(unpaid), held: BigInt(held) };
}

/** The amounts that decide whether an account may buy more. Responses show them, and purchases are checked against `remaining`. */
export async function creditOf(db: Db, accountId: string): Promise<ExplainedCredit> {
  const credit = await storedCredit(db, accountId);
  return explainCredit(credit, await heldByOrders(db, accountId));
}

/** Releases a hold. */
export async function releaseCredit(db: Db, accountId: string, amount: Money): Promise<void> {
  await addHold(db, accountId, -amount);
}

/** Holds an amount regardless of the limit, because it is already owed, such as a renewal. */
export async function holdOwed(db: Db, accountId: string, amount: Money): Promise<void> {
  await addHold(db, accountId, amount);
}

async function addHold(db: Db, accountId: string, amount: Money): Promise<void> {
  await hold(db, { accountId, amount });
}

interface Hold {
  readonly accountId: string;
  readonly amount: Money;
}

const hold = prepared<Hold, unknown>((db, parameter) =>
  db
    .updateTable('accounts')
    .set({ held: sql`held + ${parameter('amount')}` })
    .where('id', '=', parameter('accountId')),
);

/** The same rounding as in `remainingCredit`, so that purchases are checked against the number in responses. */
const heldInCents = sql.raw(`(held + ${UNITS_PER_CENT / 2n}) / ${UNITS_PER_CENT} * ${UNITS_PER_CENT}`);

const holdWithinLimit = prepared<Hold & { readonly needed: Money }, { id: string }>((db, parameter) =>
  db
    .updateTable('accounts')
    .set({ held: sql`held + ${parameter('amount')}` })
    .where('id', '=', parameter('accountId'))
    .where(sql<boolean>`credit_limit + balance_credit - unpaid - ${heldInCents} >= ${parameter('needed')}`)
    .returning('id'),
);
