import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

import type { Schema } from '../schema.ts';
import type { Engine } from '../store.ts';

/** Existing entries that get a place, so that an upgrade takes seconds. Older ones are found in the log of their account. */
const PLACED = 100_000;

const placeOnSqlite = sql`
  update request_log set feed = newest.place
  from (
    select entry, row_number() over (order by date, entry) as place
    from (select rowid as entry, date from request_log order by rowid desc limit ${sql.lit(PLACED)})
  ) as newest
  where request_log.rowid = newest.entry`;

const placeOnPostgres = sql`
  update request_log set feed = newest.place
  from (
    select account_id, number, month, row_number() over (order by date, account_id, number) as place
    from (
      select entry.* from accounts cross join lateral (
        select account_id, number, month, date from request_log
        where account_id = accounts.id order by number desc limit ${sql.lit(PLACED)}
      ) as entry
      order by date desc limit ${sql.lit(PLACED)}
    ) as entries
  ) as newest
  where request_log.account_id = newest.account_id and request_log.number = newest.number and request_log.month = newest.month`;

/** Adds what is known of a request besides its bodies, and its place among the requests of all accounts. */
export function factsOfRequests(engine: Engine): Migration {
  const integer = sql.raw(engine === 'sqlite' ? 'integer' : 'bigint');
  const facts = [
    sql`status ${integer}`,
    sql`duration ${integer}`,
    sql`key_id text`,
    sql`idempotency_key text`,
    sql`is_replay ${integer}`,
    sql`bought text`,
  ];
  return {
    async up(db: Kysely<Schema>) {
      for (const column of facts) {
        await sql`alter table request_log add column ${column}`.execute(db);
        if (engine === 'postgres') await sql`alter table request_log_inbox add column ${column}`.execute(db);
      }
      await sql`alter table request_log add column feed ${integer}`.execute(db);
      await (engine === 'sqlite' ? placeOnSqlite : placeOnPostgres).execute(db);
      // Entries without a place take up no space in it.
      await sql`create index request_log_by_feed on request_log (feed) where feed is not null`.execute(db);
      if (engine === 'postgres') {
        await sql`create sequence request_log_feed as bigint start with ${sql.lit(PLACED + 1)}`.execute(db);
        await sql`alter table request_log alter column feed set default nextval('request_log_feed')`.execute(db);
      }
    },
  };
}
