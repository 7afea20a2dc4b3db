import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

import type { Schema } from '../schema.ts';
import type { Engine } from '../store.ts';

/** Adds the links to the consoles of VMs, and their sessions. */
export function vmConsoles(engine: Engine): Migration {
  const [integer, options] = (engine === 'sqlite' ? ['integer', 'strict'] : ['bigint', '']).map((text) => sql.raw(text));
  return {
    async up(db: Kysely<Schema>) {
      await sql`
        create table vm_consoles (
          hash text primary key not null,
          vm_id ${integer} not null,
          account_id text not null,
          key_id text not null,
          expires ${integer} not null,
          ends ${integer},
          seen ${integer}
        ) ${options}`.execute(db);
      await sql`create index consoles_of_account on vm_consoles (account_id)`.execute(db);
    },
  };
}
