import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

import type { Schema } from '../schema.ts';
import type { Engine } from '../store.ts';

/** Adds the task for which a delivery waits, how far it is, and whether it undoes the delivery. */
export function tasks(engine: Engine): Migration {
  const integer = sql.raw(engine === 'sqlite' ? 'integer' : 'bigint');
  return {
    async up(db: Kysely<Schema>) {
      await sql`alter table reservations add column task text`.execute(db);
      await sql`alter table reservations add column task_percentage ${integer}`.execute(db);
      await sql`alter table reservations add column undoing ${integer} not null default 0`.execute(db);
    },
  };
}
