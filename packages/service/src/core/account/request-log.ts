/** Reads and deletes entries of the request log. */
import { responseOf } from '../../store/log-row.ts';
import type { LogEntry } from '../../store/log-row.ts';
import type { Db, RequestLog } from '../../store/store.ts';

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
  await requestLog.number(db, accountId);
  const newest = await db
    .selectFrom('request_log')
    .select('number')
    .where('account_id', '=', accountId)
    .orderBy('number', 'desc')
    .limit(1)
    .executeTakeFirst();
  // Entries are numbered without a gap, so an offset is a position in the index, however deep it is.
  const first = (before === undefined ? (newest?.number ?? 0) : before - 1) - offset;
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
  return rows.map(({ position: _position, month: _month, response_hash: _hash, body, ...entry }) => ({
    ...entry,
    response_body: responseOf(entry, body),
  }));
}

/** Deletes all entries of an account. */
export async function deleteLog(db: Db, requestLog: RequestLog, accountId: string): Promise<void> {
  await requestLog.number(db, accountId);
  await db.deleteFrom('request_log').where('account_id', '=', accountId).execute();
  await db.deleteFrom('request_log_bodies').where('account_id', '=', accountId).execute();
}
