import { sql } from 'kysely';
import type { Kysely } from 'kysely';

import type { Schema } from '../schema.ts';

/** Adds the display name and the labels of a VM. */
export const vmLabels = {
  async up(db: Kysely<Schema>) {
    await sql`alter table vms add column name text`.execute(db);
    await sql`alter table vms add column labels text not null default '{}'`.execute(db);
  },
};
