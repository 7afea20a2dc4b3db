import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

import type { Schema } from '../schema.ts';
import type { Engine } from '../store.ts';

/** Adds the order in which VMs got their further addresses, so that the first address of a VM stays the first. */
export function addedAddresses(engine: Engine): Migration {
  const integer = sql.raw(engine === 'sqlite' ? 'integer' : 'bigint');
  return {
    async up(db: Kysely<Schema>) {
      await sql`alter table ip_addresses add column added ${integer} not null default 0`.execute(db);
    },
  };
}
