import { sql } from 'kysely';

import type { Claim, Lock, TextTable, Sharing, Store } from '../store.ts';
import { databaseNow } from './now.ts';
import { numberAllLocked } from './request-log.ts';
import { tableWindows } from './windows.ts';

/** Distinguishes the advisory locks of `lock` from others. */
const LOCK_SEED = 27;

/** Uses the weaker of the two row locks. So rows can be claimed while other transactions refer to them by a foreign key. */
export const claimRows: Claim = (query, of, locked) => {
  const claimed = query.forNoKeyUpdate(of);
  return locked === 'skip' ? claimed.skipLocked() : claimed;
};

export const textTable: TextTable = (list) => sql`(
  select ordinality - 1 as position, value from json_array_elements_text(${list}::json) with ordinality as texts (value, ordinality)
)`;

export const lockAdvisory: Lock = async (db, name, mode = 'alone') => {
  const lock = sql.raw(mode === 'alone' ? 'pg_advisory_xact_lock' : 'pg_advisory_xact_lock_shared');
  await sql`select ${lock}(hashtextextended(${name}::text, ${sql.lit(LOCK_SEED)}))`.execute(db);
};

/** Any number of instances share the database. */
export function postgresSharing(run: Store['read']): Sharing {
  return {
    hasInstances: true,
    now: databaseNow,
    windows: tableWindows(run),
    claim: claimRows,
    lock: lockAdvisory,
    async freeze(transaction, tables) {
      const all = [...tables, 'request_log_inbox'];
      await sql`lock table ${sql.join(all.map((table) => sql.table(table)))} in exclusive mode`.execute(transaction);
      await numberAllLocked(transaction);
    },
  };
}
