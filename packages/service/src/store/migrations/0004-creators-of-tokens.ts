import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

import type { Schema } from '../schema.ts';

/** Adds the token with which an operator token was created. It is unknown for existing tokens. */
export const creatorsOfTokens: Migration = {
  async up(db: Kysely<Schema>) {
    await sql`alter table operator_tokens add column created_by text`.execute(db);
  },
};
