import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

import type { Schema } from '../schema.ts';
import type { Engine } from '../store.ts';
import { triggerOf, vms } from './event-triggers.ts';
import type { Family } from './event-triggers.ts';
import { createTrigger } from './triggers.ts';

const ENDED_MACHINES: Family = {
  ...vms,
  occasions: [
    {
      type: 'vm.stopped',
      change: 'update of machine_ended on vms',
      when: `old.machine_ended is null and new.machine_ended is not null`,
      with: { facts: { ...vms.facts, status: `'stopped'`, reason: `'machine_ended'` } },
    },
    {
      type: 'vm.started',
      change: 'update of machine_ended on vms',
      when: `old.machine_ended is not null and new.machine_ended is null and new.state = 'running'`,
    },
  ],
};

/** Adds when the machine of a running VM ended by itself, and the attempts to start it again. Its end and its new start are events. */
export function endedMachines(engine: Engine): Migration {
  const integer = sql.raw(engine === 'sqlite' ? 'integer' : 'bigint');
  return {
    async up(db: Kysely<Schema>) {
      await sql`alter table vms add column machine_ended ${integer}`.execute(db);
      await sql`alter table vms add column start_attempts ${integer} not null default 0`.execute(db);
      await sql`alter table vms add column next_start ${integer}`.execute(db);
      await sql`create index ended_machines on vms (next_start, account_id) where machine_ended is not null`.execute(db);
      for (const [index, occasion] of ENDED_MACHINES.occasions.entries())
        await createTrigger(db, engine, { ...triggerOf(engine, ENDED_MACHINES, occasion, index), trigger: `machine_ended_${index}` });
    },
  };
}
