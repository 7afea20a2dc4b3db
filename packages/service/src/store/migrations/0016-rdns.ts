import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

import type { Schema } from '../schema.ts';
import type { Engine } from '../store.ts';
import { createTrigger } from './triggers.ts';
import type { RowTrigger } from './triggers.ts';

/** Names are published while the VM is in none of these states. */
const UNPUBLISHED = `('reserved', 'removed')`;

function changed(address: string): string {
  return `insert into rdns_changes (address) values (${address})`;
}

const TRIGGERS: readonly RowTrigger[] = [
  {
    trigger: 'vm_names_published',
    event: 'update of state on vms',
    when: `(old.state in ${UNPUBLISHED}) <> (new.state in ${UNPUBLISHED})`,
    action: 'insert into rdns_changes (address) select address from ip_addresses where vm_id = new.id',
  },
  {
    trigger: 'ip_addresses_released',
    event: 'update of vm_id on ip_addresses',
    when: 'old.vm_id is not null and old.vm_id is distinct from new.vm_id',
    action: 'delete from rdns_entries where assigned = old.address',
  },
  {
    trigger: 'ip_addresses_moved',
    event: 'update of vm_id, pending on ip_addresses',
    when: 'old.vm_id is distinct from new.vm_id or old.pending <> new.pending',
    // The change of the VM's state adds its addresses when they are published or withdrawn together.
    action: `insert into rdns_changes (address)
      select new.address where exists (select 1 from vms where id in (old.vm_id, new.vm_id) and state not in ${UNPUBLISHED})`,
  },
  { trigger: 'ip_addresses_added', event: 'insert on ip_addresses', when: 'new.vm_id is not null', action: changed('new.address') },
  { trigger: 'ip_addresses_deleted', event: 'delete on ip_addresses', when: 'old.vm_id is not null', action: changed('old.address') },
  { trigger: 'rdns_entries_added', event: 'insert on rdns_entries', when: '1 = 1', action: changed('new.assigned') },
  {
    trigger: 'rdns_entries_changed',
    event: 'update on rdns_entries',
    when: 'old.domain is distinct from new.domain',
    action: changed('new.assigned'),
  },
  { trigger: 'rdns_entries_deleted', event: 'delete on rdns_entries', when: '1 = 1', action: changed('old.assigned') },
];

/** Adds the names of addresses in reverse DNS, and the addresses whose names must be published, with the triggers that add to them. */
export function rdns(engine: Engine): Migration {
  const [integer, identity, options] = (
    engine === 'sqlite' ? ['integer', 'integer primary key', 'strict'] : ['bigint', 'bigint generated always as identity primary key', '']
  ).map((text) => sql.raw(text));
  return {
    async up(db: Kysely<Schema>) {
      await sql`
        create table rdns_entries (
          address text primary key not null,
          assigned text not null references ip_addresses (address),
          vm_id ${integer} not null references vms (id),
          domain text,
          changed ${integer} not null
        ) ${options}`.execute(db);
      await sql`create index names_of_assigned on rdns_entries (assigned)`.execute(db);
      await sql`create index names_of_vm on rdns_entries (vm_id)`.execute(db);
      await sql`create table rdns_changes (id ${identity}, address text not null) ${options}`.execute(db);
      await sql`
        insert into rdns_changes (address)
        select ip_addresses.address from ip_addresses join vms on vms.id = ip_addresses.vm_id where vms.state not in ${sql.raw(UNPUBLISHED)}
      `.execute(db);
      for (const trigger of TRIGGERS) await createTrigger(db, engine, trigger);
    },
  };
}
