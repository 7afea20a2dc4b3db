import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/** Adds the index with which the list of handles and their quota find the handles of an account. */
export const handlesOfAccount: Migration = {
  async up(db) {
    await sql`create index handles_of_account on handles (account_id, created, id)`.execute(db);
  },
};
