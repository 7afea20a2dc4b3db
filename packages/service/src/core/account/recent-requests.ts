/** The newest entries of the request logs of all accounts. */
import { sql } from 'kysely';

import type { Db } from '../../store/store.ts';

/** An entry of the request log without its bodies. */
export interface RequestSummary {
  readonly account_id: string;
  readonly number: number;
  readonly request_id: string;
  /** Milliseconds. */
  readonly date: number;
  /** 1 or 0. */
  readonly success: number;
  readonly endpoint: string;
  readonly method: string;
  readonly error_type: string | null;
}

export interface RecentRequests {
  /** Only this account. */
  readonly accountId: string | undefined;
  /** Milliseconds. Only entries of this time or later. */
  readonly since: number;
  readonly limit: number;
}

/**
 * Reads the newest entries, newest first. It takes one index lookup for each account, because the log has no index by time: such an index
 * would make every request slower. Then it reads only the logs that can contain one of the newest entries.
 */
export async function readRecentRequests(db: Db, { accountId, since, limit }: RecentRequests): Promise<RequestSummary[]> {
  const newest = await newestOfAccounts(db, { accountId, since, limit });
  let found: RequestSummary[] = [];
  for (const { account_id, number, date } of newest) {
    const oldest = found[limit - 1];
    if (oldest !== undefined && date < oldest.date) break;
    const rows = await db
      .selectFrom('request_log')
      .select(['account_id', 'number', 'request_id', 'date', 'success', 'endpoint', 'method', 'error_type'])
      .where('account_id', '=', account_id)
      .where('number', '>', number - limit)
      .where('date', '>=', since)
      .orderBy('number', 'desc')
      .execute();
    found = [...found, ...rows].toSorted((one, other) => other.date - one.date).slice(0, limit);
  }
  return found;
}

/** The newest entry of each account, the newest account first. */
async function newestOfAccounts(db: Db, { accountId, since, limit }: RecentRequests) {
  return db
    .selectFrom((eb) =>
      eb
        .selectFrom('accounts')
        .select(['accounts.id as account_id', newestEntry('number').as('number'), newestEntry('date').as('date')])
        .where((one) => (accountId === undefined ? one.lit(true) : one('accounts.id', '=', accountId)))
        .as('newest'),
    )
    .select(['account_id', 'number', 'date'])
    .where('date', '>=', since)
    .$narrowType<{ number: number; date: number }>()
    .orderBy('date', 'desc')
    .limit(limit)
    .execute();
}

/** Of the account in a row of `accounts`. */
function newestEntry(column: 'number' | 'date') {
  return sql<number | null>`(select ${sql.ref(column)} from request_log where account_id = accounts.id order by number desc limit 1)`;
}
