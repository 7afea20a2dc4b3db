import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

import type { Schema } from '../schema.ts';

/** Finds the documents of a range of days for bookkeeping. */
export const documentsByTime: Migration = {
  async up(db: Kysely<Schema>) {
    await sql`create index documents_by_time on issued_documents (issued, id)`.execute(db);
  },
};
