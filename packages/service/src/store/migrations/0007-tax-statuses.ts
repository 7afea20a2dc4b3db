import { sql } from 'kysely';
import type { Kysely } from 'kysely';

import type { Schema } from '../schema.ts';

/** Adds the tax statuses of a buyer by day. The status of a profile without them, which the previous version wrote, has always applied. */
export const taxStatuses = {
  async up(db: Kysely<Schema>) {
    await sql`alter table billing_profiles add column tax_statuses text`.execute(db);
  },
};
