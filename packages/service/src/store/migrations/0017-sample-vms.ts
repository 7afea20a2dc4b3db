import { sql } from 'kysely';
import type { Kysely } from 'kysely';

import type { Schema } from '../schema.ts';
import type { Engine } from '../store.ts';

/** Marks the sample VMs of sandboxes, which no hypervisor has created. */
export function sampleVms(engine: Engine) {
  const integer = sql.raw(engine === 'sqlite' ? 'integer' : 'bigint');
  return {
    async up(db: Kysely<Schema>) {
      await sql`alter table vms add column is_sample ${integer} not null default 0`.execute(db);
    },
  };
}
