import type { Kysely } from 'kysely';

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

/** Creates the triggers that add the addresses whose names must be published, so that no writer can forget it. */
export async function createNameTriggers(db: Kysely<Schema>, engine: Engine): Promise<void> {
  for (const trigger of TRIGGERS) await createTrigger(db, engine, trigger);
}
