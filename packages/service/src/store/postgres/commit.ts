import { sql } from 'kysely';

import type { Db, LogEntry, Store, Transaction } from '../store.ts';
import { isCollision } from './errors.ts';

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
      async logRewritten() {
        await sql`delete from request_counters`.execute(connection);
        await sql`insert into request_counters (account_id, newest) select account_id, max(number) from request_log group by account_id`.execute(
          connection,
        );
      },
      log: (entry) => void entries.push(entry),
    });
    for (const entry of entries) await append(connection, entry);
    await sql`commit`.execute(connection);
    return result;
  } catch (error) {
    // A broken connection has nothing to roll back.
    await sql`rollback`.execute(connection).catch(() => {});
    throw error;
  }
}

/** One round trip: the account's counter gives the number, and the lock on its row keeps numbers unique. */
async function append(db: Db, entry: LogEntry): Promise<void> {
  await sql`
    with counter as (
      insert into request_counters (account_id, newest) values (${entry.account_id}, 1)
      on conflict (account_id) do update set newest = request_counters.newest + 1
      returning newest
    )
    insert into request_log
      (account_id, number, request_id, date, success, endpoint, method, request_body, error_type, response_body)
    select ${entry.account_id}, newest, ${entry.request_id}, ${entry.date}, ${entry.success}, ${entry.endpoint},
      ${entry.method}, ${entry.request_body}, ${entry.error_type ?? null}, ${entry.response_body}
    from counter`.execute(db);
}
