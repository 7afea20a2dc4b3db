import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

import type { Schema } from '../schema.ts';
import type { Engine } from '../store.ts';
import { triggerOf } from './0025-events.ts';
import type { Family } from './0025-events.ts';
import { createTrigger } from './triggers.ts';

const MONITORS: Family = {
  account: '(select account_id from vms where id = row.vm_id)',
  subject: `'vm/' || row.vm_id`,
  facts: { vmid: 'row.vm_id', port: 'row.port' },
  occasions: [
    {
      type: 'vm.monitoring.unreachable',
      change: 'update of status on vm_monitors',
      when: `old.status <> 'unreachable' and new.status = 'unreachable'`,
    },
    {
      type: 'vm.monitoring.reachable',
      change: 'update of status on vm_monitors',
      when: `old.status = 'unreachable' and new.status = 'reachable'`,
    },
  ],
};

/** Adds the ports of VMs that the service checks. A new status is an event. */
export function vmMonitors(engine: Engine): Migration {
  const integer = sql.raw(engine === 'sqlite' ? 'integer' : 'bigint');
  const options = sql.raw(engine === 'sqlite' ? 'strict' : '');
  return {
    async up(db: Kysely<Schema>) {
      await sql`
        create table vm_monitors (
          vm_id ${integer} primary key not null references vms (id), enabled ${integer} not null, port ${integer} not null, status text not null,
          failures ${integer} not null, next_check ${integer} not null
        ) ${options}`.execute(db);
      await sql`create index monitors_by_time on vm_monitors (next_check) where enabled = 1`.execute(db);
      for (const [index, occasion] of MONITORS.occasions.entries())
        await createTrigger(db, engine, triggerOf(engine, MONITORS, occasion, index));
    },
  };
}
