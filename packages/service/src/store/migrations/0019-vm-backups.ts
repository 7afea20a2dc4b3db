import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

import type { Schema } from '../schema.ts';
import type { Engine } from '../store.ts';

/** Adds the backups of VMs, and the schedules by which the service makes them. */
export function vmBackups(engine: Engine): Migration {
  const integer = sql.raw(engine === 'sqlite' ? 'integer' : 'bigint');
  const options = sql.raw(engine === 'sqlite' ? 'strict' : '');
  return {
    async up(db: Kysely<Schema>) {
      await sql`
        create table vm_backups (
          id text primary key not null,
          vm_id ${integer} not null references vms (id),
          description text not null,
          state text not null,
          is_scheduled ${integer} not null,
          created ${integer} not null,
          disk ${integer} not null,
          os text not null,
          hostname text not null,
          ssh_key text,
          ssh_key_displayname text
        ) ${options}
      `.execute(db);
      await sql`create index backups_of_vm on vm_backups (vm_id)`.execute(db);
      await sql`alter table vms add column backup_schedule text`.execute(db);
      await sql`alter table vms add column backup_due ${integer}`.execute(db);
      await sql`create index vms_by_backup on vms (backup_due) where backup_due is not null`.execute(db);
    },
  };
}
