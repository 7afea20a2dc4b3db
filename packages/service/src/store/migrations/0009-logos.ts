import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

import type { Schema } from '../schema.ts';
import type { Engine } from '../store.ts';

/** Adds the logos of documents. */
export function logos(engine: Engine): Migration {
  const options = sql.raw(engine === 'sqlite' ? 'strict' : '');
  return {
    async up(db: Kysely<Schema>) {
      await sql`create table logos (hash text primary key not null, image text not null) ${options}`.execute(db);
    },
  };
}
