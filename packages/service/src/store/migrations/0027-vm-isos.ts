import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

import type { Schema } from '../schema.ts';

/** Adds the ISO file from which a VM boots. */
export const vmIsos: Migration = {
  async up(db: Kysely<Schema>) {
    await sql`alter table vms add column iso text`.execute(db);
  },
};
