import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

import type { Schema } from '../schema.ts';
import type { Engine } from '../store.ts';
import { createZoneTriggers } from './zone-triggers.ts';

/** Adds the quota of DNS records, and the pending domains that have no zone yet. The end of `pending` publishes their zones. */
export function zones(engine: Engine): Migration {
  const integer = sql.raw(engine === 'sqlite' ? 'integer' : 'bigint');
  return {
    async up(db: Kysely<Schema>) {
      await sql`alter table accounts add column max_records ${integer} default 1000 check (max_records >= 0)`.execute(db);
      await sql`alter table domains add column zone_withheld ${integer} not null default 0`.execute(db);
      await createZoneTriggers(db, engine, [
        {
          trigger: 'withheld_zones',
          event: 'update of state on domains',
          domain: 'new.name',
          when: `old.state = 'pending' and new.state <> 'pending' and new.zone_withheld = 1`,
        },
      ]);
    },
  };
}
