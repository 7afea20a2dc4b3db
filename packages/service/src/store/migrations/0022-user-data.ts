import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

import type { Schema } from '../schema.ts';
import type { Engine } from '../store.ts';

/** Adds the user data of VMs. */
export function userData(engine: Engine): Migration {
  const integer = sql.raw(engine === 'sqlite' ? 'integer' : 'bigint');
  const options = sql.raw(engine === 'sqlite' ? 'strict' : '');
  return {
    async up(db: Kysely<Schema>) {
      await sql`
        create table vm_user_data (
          vm_id ${integer} not null references vms (id),
          is_pending ${integer} not null,
          sealed_text text not null,
          sha256 text not null,
          primary key (vm_id, is_pending)
        ) ${options}
      `.execute(db);
    },
  };
}
