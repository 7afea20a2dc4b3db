/** Reads and deletes entries of the request log. */
import { sql } from 'kysely';

import { responseOf } from '../../store/log-row.ts';
import type { LogEntry } from '../../store/log-row.ts';
import type { Db, RequestLog, Store } from '../../store/store.ts';

/** A part of an account's log. */
export interface LogPage {
  readonly accountId: string;
  /** Only entries with a lower number. Without it, the newest come first. */
  readonly before?: number;
  /** Number of newest entries to skip. */
  readonly offset?: number;
  readonly limit: number;
}

export interface NumberedLogEntry extends LogEntry {
  readonly number: number;
}

/** The entries of an account, newest first. Every entry that was durable before the call is among them. */
export async function readLog(
  db: Db,
  requestLog: RequestLog,
  { accountId, before, offset = 0, limit }: LogPage,
): Promise<NumberedLogEntry[]> {
  // Entries are numbered without a gap, so an offset is a position in the index, however deep it is.
  const first = (before === undefined ? await newestNumber(db, requestLog, accountId) : before - 1) - offset;
  const rows = await db
    .selectFrom('request_log as entry')
    .leftJoin('request_log_bodies as shared', (join) =>
      join
        .onRef('shared.month', '=', 'entry.month')
        .onRef('shared.account_id', '=', 'entry.account_id')
        .onRef('shared.hash', '=', 'entry.response_hash'),
    )
    .selectAll('entry')
    .select('shared.body')
    .where('entry.account_id', '=', accountId)
    .where('entry.number', '<=', first)
    .where('entry.number', '>', first - limit)
    .orderBy('entry.number', 'desc')
    .execute();
  return rows.map(({ position: _position, month: _month, response_hash: _hash, feed: _feed, body, ...entry }) => ({
    ...entry,
    response_body: responseOf(entry, body),
  }));
}

async function newestNumber(db: Db, requestLog: RequestLog, accountId: string): Promise<number> {
  await requestLog.number(db, accountId);
  const newest = await db
    .selectFrom('request_log')
    .select('number')
    .where('account_id', '=', accountId)
    .orderBy('number', 'desc')
    .limit(1)
    .executeTakeFirst();
  return newest?.number ?? 0;
}

/** The sizes of the request log and of the whole store. */
export interface StoreFigures {
  /** Numbered entries of the request log. PostgreSQL numbers new ones about once a second. */
  readonly logEntries: number;
  /** Bytes of the request log, approximately. */
  readonly logBytes: number;
  /** Bytes of the whole store on the disk. */
  readonly storeBytes: number;
}

/** The figures for metrics. Takes two index lookups per account, however long the log is. */
export async function storeFigures({ read, requestLog }: Store): Promise<StoreFigures> {
  const { entries, bytes } = await read((db) =>
    db
      .selectFrom('accounts')
      .select([
        sql<number>`coalesce(sum(${logEnd('number', 'desc')} - ${logEnd('number', 'asc')} + 1), 0)`.as('entries'),
        sql<number>`coalesce(sum(${entryBytes} + ${bodyBytes}), 0)`.as('bytes'),
      ])
      .executeTakeFirstOrThrow(),
  );
  return { logEntries: entries, logBytes: bytes, storeBytes: await requestLog.storeSize() };
}

/** A column of the oldest or the newest entry of the account in a row of `accounts`, or null. */
export function logEnd(column: 'number' | 'position', direction: 'asc' | 'desc') {
  return sql<
    number | null
  >`(select ${sql.ref(column)} from request_log where account_id = accounts.id order by number ${sql.raw(direction)} limit 1)`;
}

/** Bytes of the entries of the account in a row of `accounts`, without shared responses. */
export const entryBytes = sql<number>`coalesce(${logEnd('position', 'desc')} - ${logEnd('position', 'asc')}, 0)`;

/** Bytes of the responses that entries of the account in a row of `accounts` share. */
export const bodyBytes = sql<number>`coalesce((select sum(size) from request_log_bodies where account_id = accounts.id), 0)`;

/** Deletes all entries of an account. */
export async function deleteLog(db: Db, requestLog: RequestLog, accountId: string): Promise<void> {
  await requestLog.number(db, accountId);
  await db.deleteFrom('request_log').where('account_id', '=', accountId).execute();
  await db.deleteFrom('request_log_bodies').where('account_id', '=', accountId).execute();
}
