import { sql } from 'kysely';

import type { Db, Sharing } from '../store.ts';
import type { Patient } from './connections.ts';
import { databaseNow } from './now.ts';
import { tableWindows } from './windows.ts';

/** Any number of nodes share the database. */
export function postgresSharing(db: Db, patient: Patient): Sharing {
  return {
    severalNodes: true,
    now: databaseNow,
    windows: tableWindows(db, patient),
    // The weaker of the two locks for an update: a row that others merely refer to is free to be claimed.
    claim(query, of, locked) {
      const claimed = query.forNoKeyUpdate(of);
      return locked === 'skip' ? claimed.skipLocked() : claimed;
    },
    async freeze(unit, tables) {
      await sql`lock table ${sql.join(tables.map((table) => sql.table(table)))} in exclusive mode`.execute(unit);
    },
  };
}
