import { sql } from 'kysely';

import { deferredWrite } from '../prepared.ts';
import type { CommitOptions, Db, LogEntry, Store, Transaction } from '../store.ts';
import { isCollision, isWrongAssumption } from './errors.ts';
import type { Session } from './session.ts';

/** Attempts of a transaction that collides with others. */
const MAX_ATTEMPTS = 10;

/** Runs work with a session that no other work uses. */
export type WithSession = <T>(options: CommitOptions, work: (session: Session) => Promise<T>) => Promise<T>;

/**
 * Runs each transaction on its own connection.
 *
 * The database commits without waiting for its disk, so that the locks of a transaction are released at once. The caller waits for the
 * disk afterwards, together with all transactions that committed meanwhile. The database writes its log in the order of the commits, so
 * a transaction that has read the changes of another is never durable without it.
 *
 * @param durable Resolves when all commits before the call are durable.
 */
export function postgresCommit(withSession: WithSession, durable: () => Promise<void>): Store['commit'] {
  return async (work, options = {}) => {
    let isOptimistic = options.isOptimistic === true;
    for (let attempt = 1; ; attempt++) {
      try {
        const optimism = isOptimistic;
        const result = await withSession(options, (session) => runTransaction(session, work, optimism));
        await durable();
        return result;
      } catch (error) {
        if (isOptimistic && isWrongAssumption(error)) isOptimistic = false;
        else if (attempt === MAX_ATTEMPTS || !isCollision(error)) throw error;
      }
    }
  };
}

async function runTransaction<T>(session: Session, work: (transaction: Transaction) => Promise<T>, isOptimistic: boolean): Promise<T> {
  const { db } = session;
  const entries: LogEntry[] = [];
  session.begin(isOptimistic);
  try {
    const result = await work({
      db,
      rollBack: () => session.rollBack(),
      async logRewritten() {
        await sql`delete from request_counters`.execute(db);
        await sql`insert into request_counters (account_id, newest) select account_id, max(number) from request_log group by account_id`.execute(
          db,
        );
      },
      log: (entry) => void entries.push(entry),
    });
    for (const entry of entries) await append(db, { ...entry, error_type: entry.error_type ?? null });
    await session.commit();
    return result;
  } catch (error) {
    // The work may have failed because of a wrong assumption.
    if (session.isAssuming()) await session.rollBack();
    throw error;
  }
}

/** One round trip: the account's counter gives the number, and the lock on its row keeps numbers unique. */
const append = deferredWrite<LogEntry & { readonly error_type: string | null }>((db: Db, parameter) => ({
  compile: () =>
    sql`
    with counter as (
      insert into request_counters (account_id, newest) values (${parameter('account_id')}, 1)
      on conflict (account_id) do update set newest = request_counters.newest + 1
      returning newest
    )
    insert into request_log
      (account_id, number, request_id, date, success, endpoint, method, request_body, error_type, response_body)
    select ${parameter('account_id')}, newest, ${parameter('request_id')}, ${parameter('date')}, ${parameter('success')},
      ${parameter('endpoint')}, ${parameter('method')}, ${parameter('request_body')}, ${parameter('error_type')}, ${parameter('response_body')}
    from counter`.compile(db),
}));
