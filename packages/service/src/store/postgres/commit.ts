import { sql } from 'kysely';

import { toLogRow } from '../log-row.ts';
import type { LogEntry } from '../log-row.ts';
import type { Db, Store, Transaction } from '../store.ts';
import { isCollision } from './errors.ts';
import { insertRows } from './request-log.ts';

/** Attempts of a transaction that collides with others. */
const MAX_ATTEMPTS = 10;

/** Runs each transaction on its own connection. */
export function postgresCommit(db: Db): Store['commit'] {
  return async (work) => {
    for (let attempt = 1; ; attempt++) {
      try {
        return await db.connection().execute((connection) => runTransaction(connection, work));
      } catch (error) {
        if (attempt === MAX_ATTEMPTS || !isCollision(error)) throw error;
      }
    }
  };
}

async function runTransaction<T>(connection: Db, work: (transaction: Transaction) => Promise<T>): Promise<T> {
  const entries: LogEntry[] = [];
  await sql`begin`.execute(connection);
  try {
    const result = await work({
      db: connection,
      async rollBack() {
        await sql`rollback`.execute(connection);
        await sql`begin`.execute(connection);
      },
      log: (entry) => void entries.push(entry),
    });
    if (entries.length > 0) await insertRows(connection, entries.map(toLogRow));
    await sql`commit`.execute(connection);
    return result;
  } catch (error) {
    // A broken connection has nothing to roll back.
    await sql`rollback`.execute(connection).catch(() => {});
    throw error;
  }
}
