import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

import type { Schema } from '../schema.ts';

/** Makes the index of positions find those of an ended period without the others. */
export const openPositionsByStart: Migration = {
  async up(db: Kysely<Schema>) {
    await sql`drop index positions_of_account`.execute(db);
    await sql`create index positions_of_account on positions (account_id, invoice_id, start)`.execute(db);
  },
};
