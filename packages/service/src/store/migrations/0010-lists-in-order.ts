import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

import type { Schema } from '../schema.ts';

/** Reads the VMs and the positions of an account in the order in which they are listed. Sorting 20,000 rows takes 50 ms, in which nobody else is served. */
export const listsInOrder: Migration = {
  async up(db: Kysely<Schema>) {
    await sql`create index vms_in_order on vms (account_id, created, id)`.execute(db);
    await sql`create index positions_in_order on positions (account_id, invoice_id, vm_id, number)`.execute(db);
  },
};
