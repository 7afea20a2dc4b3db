/** Deletes old entries of the request log, in transactions that are small enough not to delay requests. */
import { sql } from 'kysely';

import { monthOf } from '../../store/log-row.ts';
import { readLogRetention } from '../../store/settings.ts';
import type { Db, Store } from '../../store/store.ts';
import { logEnd } from './request-log.ts';

/** Rows that one transaction deletes, and accounts that one query reads. */
const BATCH_SIZE = 500;

/**
 * Deletes entries that exceed the retention of the request log.
 *
 * @param now Milliseconds.
 */
export async function deleteOldEntries(store: Store, now: number): Promise<void> {
  const { months, bytesPerAccount } = await store.read(readLogRetention);
  if (months !== null) await deleteMonthsBefore(store, monthBefore(now, months));
  if (bytesPerAccount === null) return;
  for (let after = ''; ;) {
    const accounts = await store.read((db) => accountsAfter(db, after));
    for (const { id, oldest, newest } of accounts) {
      if (oldest !== null && newest !== null && newest - oldest > bytesPerAccount) await deleteUpTo(store, id, newest - bytesPerAccount);
    }
    if (accounts.length < BATCH_SIZE) return;
    after = accounts.at(-1)?.id ?? '';
  }
}

/** The month (such as 202611) that is a number of months before an instant. */
export function monthBefore(now: number, months: number): number {
  const date = new Date(now);
  return monthOf(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() - months));
}

async function deleteMonthsBefore(store: Store, month: number): Promise<void> {
  await store.requestLog.deleteMonthsBefore(month);
  await inBatches(store, async (db) => {
    const old = db.selectFrom('request_log_bodies').select(['month', 'account_id', 'hash']).where('month', '<', month).limit(BATCH_SIZE);
    return sql`delete from request_log_bodies where (month, account_id, hash) in (${old})`.execute(db);
  });
}

/** Accounts in the order of their identifiers, with the positions of their oldest and newest entries. */
function accountsAfter(db: Db, after: string) {
  return db
    .selectFrom('accounts')
    .select(['id', logEnd('position', 'asc').as('oldest'), logEnd('position', 'desc').as('newest')])
    .where('id', '>', after)
    .orderBy('id')
    .limit(BATCH_SIZE)
    .execute();
}

/** Deletes the oldest entries of an account, up to a position. */
function deleteUpTo(store: Store, accountId: string, position: number): Promise<void> {
  return inBatches(store, (db) => {
    const oldest = db
      .selectFrom('request_log')
      .select('number')
      .where('account_id', '=', accountId)
      .where('position', '<=', position)
      .orderBy('number')
      .limit(BATCH_SIZE);
    return sql`delete from request_log where account_id = ${accountId} and number in (${oldest})`.execute(db);
  });
}

async function inBatches(store: Store, work: (db: Db) => Promise<{ readonly numAffectedRows?: bigint }>): Promise<void> {
  let deleted: bigint | undefined;
  do {
    deleted = (await store.commit(({ db }) => work(db))).numAffectedRows;
  } while (deleted === BigInt(BATCH_SIZE));
}
