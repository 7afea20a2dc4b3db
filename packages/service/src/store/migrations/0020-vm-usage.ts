import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

import type { Schema } from '../schema.ts';
import type { Engine } from '../store.ts';

/** Adds the use and the traffic of VMs, and the traffic that a host system includes. */
export function vmUsage(engine: Engine): Migration {
  const integer = sql.raw(engine === 'sqlite' ? 'integer' : 'bigint');
  const options = sql.raw(engine === 'sqlite' ? 'strict' : '');
  return {
    async up(db: Kysely<Schema>) {
      await sql`alter table host_systems add column included_traffic ${integer}`.execute(db);
      await sql`
        create table vm_counters (
          vm_id ${integer} primary key not null references vms (id),
          at ${integer} not null,
          run text not null,
          run_time ${integer} not null,
          cpu_time ${integer},
          disk_read ${integer},
          disk_written ${integer},
          received ${integer},
          sent ${integer}
        ) ${options}
      `.execute(db);
      await sql`
        create table vm_usage (
          vm_id ${integer} not null references vms (id),
          at ${integer} not null,
          cpu ${integer},
          mem ${integer},
          disk ${integer},
          disk_read ${integer},
          disk_written ${integer},
          received ${integer},
          sent ${integer},
          primary key (vm_id, at)
        ) ${options}
      `.execute(db);
      await sql`
        create table vm_traffic (
          vm_id ${integer} not null references vms (id),
          day ${integer} not null,
          received ${integer} not null,
          sent ${integer} not null,
          primary key (vm_id, day)
        ) ${options}
      `.execute(db);
    },
  };
}
