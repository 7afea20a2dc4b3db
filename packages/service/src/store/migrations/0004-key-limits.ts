import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

import type { Schema } from '../schema.ts';
import type { Engine } from '../store.ts';

/** Adds the spending limits of API keys, the networks that may use a key, and the last use of a key. */
export function keyLimits(engine: Engine): Migration {
  const integer = sql.raw(engine === 'sqlite' ? 'integer' : 'bigint');
  const strict = sql.raw(engine === 'sqlite' ? ' strict' : '');
  return {
    async up(db: Kysely<Schema>) {
      await sql`
        create table spending_limits (
          id text primary key not null,
          account_id text not null references accounts (id),
          per_day ${integer},
          per_month ${integer},
          operations text
        )${strict}
      `.execute(db);
      await sql`
        create table spendings (
          limit_id text not null references spending_limits (id),
          period text not null,
          spent ${integer} not null,
          constraint spendings_key primary key (limit_id, period)
        )${strict}
      `.execute(db);
      await sql`alter table api_keys add column limit_id text references spending_limits (id)`.execute(db);
      await sql`alter table api_keys add column allowed_networks text`.execute(db);
      await sql`alter table api_keys add column last_used ${integer}`.execute(db);
      await sql`alter table api_keys add column rotated ${integer} not null default 0`.execute(db);
      // Until now, only a rotation set an end.
      await sql`update api_keys set rotated = 1 where valid_until is not null`.execute(db);
      await sql`create index limits_of_account on spending_limits (account_id)`.execute(db);
    },
  };
}
