import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

import type { Schema } from '../schema.ts';
import type { Engine } from '../store.ts';

/** Adds what the size limit of the request log needs to count and delete shared responses. Existing rows have neither. */
export function logBodySizes(engine: Engine): Migration {
  const integer = sql.raw(engine === 'sqlite' ? 'integer' : 'bigint');
  return {
    async up(db: Kysely<Schema>) {
      await sql`alter table request_log_bodies add column size ${integer}`.execute(db);
      await sql`alter table request_log_bodies add column stored ${integer}`.execute(db);
      // The sizes are summed without reading the texts.
      await sql`create index bodies_of_account on request_log_bodies (account_id, stored, size)`.execute(db);
    },
  };
}
