import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

import type { Schema } from '../schema.ts';

/** Finds the documents of an account. Without the indexes, an export reads the documents of all accounts. */
export const documentsOfAccount: Migration = {
  async up(db: Kysely<Schema>) {
    await sql`create index documents_of_account on issued_documents (account_id, id)`.execute(db);
    await sql`create index document_parts_of_account on document_parts (account_id, document_id, number)`.execute(db);
  },
};
