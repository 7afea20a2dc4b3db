import type { Seconds } from '../rules/billing.ts';
import { prepared } from './prepared.ts';
import type { Db } from './store.ts';

/**
 * Locks the account until the transaction ends, so that no other transaction closes its period. Call it before changing positions.
 *
 * @returns The start of the open period.
 */
export async function lockAccount(db: Db, accountId: string): Promise<Seconds> {
  const [account] = await touchAccount(db, { accountId });
  if (!account) throw new Error(`The account ${accountId} does not exist.`);
  return account.period_start;
}

/**
 * Like `lockAccount`, for a change at an instant that is nearly always in the open period.
 *
 * @returns The instant, or the start of the open period if that is later.
 */
export async function lockAccountAt(db: Db, accountId: string, instant: Seconds): Promise<Seconds> {
  const [locked] = await lockOpenPeriod(db, { accountId, instant });
  if (locked) return instant;
  return Math.max(instant, await lockAccount(db, accountId));
}

const lockOpenPeriod = prepared<{ accountId: string; instant: Seconds }, { id: string }>((db, parameter, claim) =>
  claim(
    db.selectFrom('accounts').select('id').where('id', '=', parameter('accountId')).where('period_start', '<=', parameter('instant')),
    'accounts',
    'wait',
  ),
);

const touchAccount = prepared<{ accountId: string }, { period_start: Seconds }>((db, parameter) =>
  db
    .updateTable('accounts')
    .set((row) => ({ held: row.ref('held') }))
    .where('id', '=', parameter('accountId'))
    .returning('period_start'),
);
