import { sql } from 'kysely';

import { Refusal } from '../../refusal.ts';
import { availableCredit } from '../../rules/credit.ts';
import { decimalOf } from '../../rules/money.ts';
import type { Money } from '../../rules/money.ts';
import { preparedWrite } from '../../store/prepared.ts';
import type { Db } from '../../store/store.ts';

/**
 * Keeps an amount of the account's credit, or refuses. One conditional update: of purchases that
 * arrive together no more pass than the limit has room for.
 *
 * @param amount What the purchase may cost until the period ends.
 * @throws Refusal 402 when it does not fit.
 */
export async function holdCredit(db: Db, accountId: string, amount: Money): Promise<void> {
  if ((await holdWhereItFits(db, { accountId, amount })) > 0) return;
  const account = await db
    .selectFrom('accounts')
    .select(['credit_limit', 'unpaid', 'held'])
    .where('id', '=', accountId)
    .executeTakeFirstOrThrow();
  const available = availableCredit({ limit: BigInt(account.credit_limit), unpaid: BigInt(account.unpaid), held: BigInt(account.held) });
  throw new Refusal(
    402,
    'credit_limit_exceeded',
    `This purchase may cost ${decimalOf(amount)} EUR until the period ends, and ${decimalOf(available)} EUR of the credit limit are free. Pay open invoices, choose less, or ask the provider for a higher credit limit.`,
  );
}

/** Gives back what a hold kept. */
export async function releaseCredit(db: Db, accountId: string, amount: Money): Promise<void> {
  await addHold(db, accountId, -amount);
}

/** Holds an amount whatever the limit says: for what is owed already, such as a renewal. */
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

const hold = preparedWrite<Hold>((db, parameter) =>
  db
    .updateTable('accounts')
    .set({ held: sql`held + ${parameter('amount')}` })
    .where('id', '=', parameter('accountId')),
);

const holdWhereItFits = preparedWrite<Hold>((db, parameter) =>
  db
    .updateTable('accounts')
    .set({ held: sql`held + ${parameter('amount')}` })
    .where('id', '=', parameter('accountId'))
    .where(sql<boolean>`unpaid + held + ${parameter('amount')} <= credit_limit`),
);
