import { sql } from 'kysely';

import type { Db, Sharing } from '../store.ts';
import { databaseNow } from './now.ts';
import { tableWindows } from './windows.ts';

/** Any number of nodes share the database. */
export function postgresSharing(db: Db): Sharing {
  return {
    severalNodes: true,
    now: databaseNow,
    windows: tableWindows(db),
    // The weaker of the two locks for an update: a row that others merely refer to is free to be claimed.
    claim(query, of, held) {
      const claimed = query.forNoKeyUpdate(of);
      return held === 'left out' ? claimed.skipLocked() : claimed;
    },
    async freeze(unit, tables) {
      await sql`lock table ${sql.join(tables.map((table) => sql.table(table)))} in exclusive mode`.execute(unit);
    },
  };
}
