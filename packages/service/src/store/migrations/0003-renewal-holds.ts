import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

import type { Schema } from '../schema.ts';
import type { Engine } from '../store.ts';

/** Adds the credit that the renewal of a domain holds. It is 0 until the domain changes or its account's period ends. */
export function renewalHolds(engine: Engine): Migration {
  const integer = sql.raw(engine === 'sqlite' ? 'integer' : 'bigint');
  return {
    async up(db: Kysely<Schema>) {
      await sql`alter table domains add column hold ${integer} not null default 0`.execute(db);
    },
  };
}
