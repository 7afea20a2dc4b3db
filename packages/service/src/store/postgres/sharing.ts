import { sql } from 'kysely';

import type { Sharing } from '../store.ts';

/** Any number of nodes share the database. */
export const postgresSharing: Sharing = {
  severalNodes: true,
  // Of the moment at which the query is, not of the begin of its transaction: it may have waited.
  now: sql<number>`(extract(epoch from clock_timestamp()) * 1000)::bigint`,
  // The weaker of the two locks for an update: a row that others merely refer to is free to be claimed.
  claim(query, of, held) {
    const claimed = query.forNoKeyUpdate(of);
    return held === 'left out' ? claimed.skipLocked() : claimed;
  },
  async freeze(db, tables) {
    await sql`lock table ${sql.join(tables.map((table) => sql.table(table)))} in exclusive mode`.execute(db);
  },
};
