import { sql } from 'kysely';
import type { Kysely, RawBuilder } from 'kysely';

import type { Schema } from '../../schema.ts';
import type { Engine } from '../../store.ts';
import type { Integer } from './create-table.ts';

/** PostgreSQL has a partition for each month, so that an old month is deleted without touching its rows. */
export async function createRequestLog(db: Kysely<Schema>, engine: Engine, integer: Integer): Promise<void> {
  // The place among the requests of all accounts.
  if (engine === 'postgres') await sql`create sequence request_log_feed as bigint`.execute(db);
  const feed = engine === 'postgres' ? sql` default nextval('request_log_feed')` : sql``;
  const [key, options] =
    engine === 'sqlite' ? [sql`account_id, number`, sql`strict`] : [sql`account_id, number, month`, sql`partition by list (month)`];
  await sql`
    create table request_log (
      account_id text not null,
      number ${integer} not null,
      position ${integer} not null,
      ${logColumns(integer)},
      feed ${integer}${feed},
      constraint request_log_key primary key (${key})
    ) ${options}
  `.execute(db);
}

function logColumns(integer: Integer): RawBuilder<unknown> {
  return sql`
    month ${integer} not null,
    request_id text not null,
    date ${integer} not null,
    success ${integer} not null,
    endpoint text not null,
    method text not null,
    request_body text not null,
    error_type text,
    response_body text,
    response_hash text,
    status ${integer},
    duration ${integer},
    key_id text,
    idempotency_key text,
    is_replay ${integer},
    bought text
  `;
}

/** Tables that only PostgreSQL needs, because a SQLite store belongs to one process. */
export async function createPostgresTables(db: Kysely<Schema>, integer: Integer): Promise<void> {
  // Entries of the request log that have no number yet.
  await sql`
    create table request_log_inbox (
      id bigint generated always as identity primary key,
      account_id text not null,
      size bigint not null,
      ${logColumns(integer)}
    )
  `.execute(db);
  await sql`create index inbox_of_account on request_log_inbox (account_id, id)`.execute(db);
  // The table is unlogged, so a write does not wait for the disk and a crash may lose the counts.
  await sql`
    create unlogged table event_windows (
      name text primary key,
      ends bigint not null,
      count bigint not null
    )
  `.execute(db);
}
