/** Deletes old entries of the request log, in transactions that are small enough not to delay requests. */
import { sql } from 'kysely';

import { monthOf, REFRESH_MS } from '../../store/log-row.ts';
import { readLogRetention } from '../../store/settings.ts';
import type { Db, Store } from '../../store/store.ts';
import { tuningOf } from '../../store/tuning.ts';
import { bodyBytes, entryBytes, logEnd } from './request-log.ts';

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
    for (const { id, entries, bodies } of accounts) if (entries + bodies > bytesPerAccount) await shorten(store, id, bytesPerAccount);
    if (accounts.length < store.tuning.cleanUpBatch) return;
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
    const old = db
      .selectFrom('request_log_bodies')
      .select(['month', 'account_id', 'hash'])
      .where('month', '<', month)
      .limit(tuningOf(db).cleanUpBatch);
    return sql`delete from request_log_bodies where (month, account_id, hash) in (${old})`.execute(db);
  });
}

/** Accounts in the order of their identifiers, with the bytes of their entries and of the responses that several entries share. */
function accountsAfter(db: Db, after: string) {
  return db
    .selectFrom('accounts')
    .select(['id', entryBytes.as('entries'), bodyBytes.as('bodies')])
    .where('id', '>', after)
    .orderBy('id')
    .limit(tuningOf(db).cleanUpBatch)
    .execute();
}

/** Deletes the oldest entries of an account, with the shared responses that no other entry refers to, until the log has a size. */
async function shorten(store: Store, accountId: string, bytes: number): Promise<void> {
  while (await store.commit(({ db }) => shortenOnce(db, accountId, bytes)));
}

/** @returns Whether there may be more to delete. */
async function shortenOnce(db: Db, accountId: string, bytes: number): Promise<boolean> {
  const { entries, bodies, oldest, first, last } = await db
    .selectFrom('accounts')
    .select([entryBytes.as('entries'), bodyBytes.as('bodies'), logEnd('position', 'asc').as('oldest')])
    .select([logEnd('number', 'asc').as('first'), logEnd('number', 'desc').as('last')])
    .where('id', '=', accountId)
    .executeTakeFirstOrThrow();
  if (oldest === null || first === null || last === null || entries + bodies <= bytes) return false;
  const fromOldest = db.selectFrom('request_log').select('number').where('account_id', '=', accountId).orderBy('number');
  const old =
    entries > bytes
      ? fromOldest.where('position', '<=', oldest + entries - bytes).limit(tuningOf(db).cleanUpBatch)
      : // How much this frees is known afterwards. The entries of the last minutes may share all the responses that there are.
        fromOldest
          .where('date', '<', sql<number>`${dateOf(accountId, 'desc')} - ${sql.lit(KEPT_MS)}`)
          .limit(Math.min(tuningOf(db).cleanUpBatch, Math.ceil((last - first + 1) / 8)));
  const { numAffectedRows } = await sql`delete from request_log where account_id = ${accountId} and number in (${old})`.execute(db);
  await db
    .deleteFrom('request_log_bodies')
    .where('account_id', '=', accountId)
    .where('stored', '<', sql<number>`${dateOf(accountId, 'asc')} - ${sql.lit(KEPT_MS)}`)
    .execute();
  return numAffectedRows !== undefined && numAffectedRows > 0n;
}

/**
 * A shared response is kept for this long after it was marked as received. The entries that refer to it are at most REFRESH_MS younger than
 * the mark, and the clocks of two instances differ by less.
 */
const KEPT_MS = 2 * REFRESH_MS;

/** The time of the oldest or the newest entry of an account, or null. */
function dateOf(accountId: string, direction: 'asc' | 'desc') {
  return sql`(select date from request_log where account_id = ${accountId} order by number ${sql.raw(direction)} limit 1)`;
}

async function inBatches(store: Store, work: (db: Db) => Promise<{ readonly numAffectedRows?: bigint }>): Promise<void> {
  let deleted: bigint | undefined;
  do {
    deleted = (await store.commit(({ db }) => work(db))).numAffectedRows;
  } while (deleted === BigInt(store.tuning.cleanUpBatch));
}
