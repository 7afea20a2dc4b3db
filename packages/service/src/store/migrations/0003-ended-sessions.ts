import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

import type { Schema } from '../schema.ts';
import type { Engine } from '../store.ts';

/** Adds the sessions of the console whose holders have signed out. */
export function endedSessions(engine: Engine): Migration {
  const [integer, options] = engine === 'sqlite' ? [sql`integer`, sql`strict`] : [sql`bigint`, sql``];
  return {
    async up(db: Kysely<Schema>) {
      await sql`create table ended_sessions (hash text primary key not null, ends ${integer} not null) ${options}`.execute(db);
    },
  };
}
