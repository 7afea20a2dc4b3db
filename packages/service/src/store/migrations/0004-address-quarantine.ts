import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

import type { Schema } from '../schema.ts';
import type { Engine } from '../store.ts';

/** Adds when an address was released, and finds those that have been free for the longest time. */
export function addressQuarantine(engine: Engine): Migration {
  const integer = sql.raw(engine === 'sqlite' ? 'integer' : 'bigint');
  return {
    async up(db: Kysely<Schema>) {
      await sql`alter table ip_addresses add column released ${integer} not null default 0`.execute(db);
      await sql`create index free_addresses_by_release on ip_addresses (datacenter_name, family, owner, released, pool_id, position)
        where vm_id is null`.execute(db);
    },
  };
}
