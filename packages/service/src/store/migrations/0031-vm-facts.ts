import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

import type { Schema } from '../schema.ts';
import type { Engine } from '../store.ts';

/** Adds whether a password was installed, which is unknown for present VMs, and whether an address is in use only after a restart. */
export function vmFacts(engine: Engine): Migration {
  const integer = sql.raw(engine === 'sqlite' ? 'integer' : 'bigint');
  return {
    async up(db: Kysely<Schema>) {
      await sql`alter table vms add column password_enabled ${integer}`.execute(db);
      await sql`alter table vm_backups add column password_enabled ${integer}`.execute(db);
      await sql`alter table ip_addresses add column requires_restart ${integer} not null default 0`.execute(db);
    },
  };
}
