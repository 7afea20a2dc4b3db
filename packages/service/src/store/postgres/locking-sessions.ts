import { sql } from 'kysely';

import type { Db } from '../store.ts';

/** A transaction that is younger ends by itself before a migration gives up. */
const LONG_TRANSACTION_SECONDS = 5;

/**
 * The other sessions of the database that have held a lock on a table for more than a few seconds: a migration waits for them.
 *
 * @returns One text for each session, such as `4711 (psql, idle in transaction, for 180 s, on vms)`.
 */
export async function lockingSessions(db: Db): Promise<string[]> {
  const { rows } = await sql<{ pid: number; program: string; state: string; seconds: number; tables: string }>`
    select activity.pid, coalesce(nullif(application_name, ''), usename) as program, state,
      floor(extract(epoch from now() - xact_start))::int as seconds, string_agg(distinct class.relname, ', ' order by class.relname) as tables
    from pg_stat_activity as activity
    join pg_locks as lock on lock.pid = activity.pid and lock.locktype = 'relation' and lock.granted
    join pg_class as class on class.oid = lock.relation and class.relkind = 'r' and class.relnamespace = 'public'::regnamespace
    where activity.datname = current_database() and activity.pid <> pg_backend_pid()
      and xact_start < now() - make_interval(secs => ${LONG_TRANSACTION_SECONDS})
    group by activity.pid, application_name, usename, state, xact_start order by xact_start`.execute(db);
  return rows.map(({ pid, program, state, seconds, tables }) => `${pid} (${program}, ${state}, for ${seconds} s, on ${tables})`);
}
