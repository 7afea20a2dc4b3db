import { sql } from 'kysely';
import type { Kysely } from 'kysely';

import type { Schema } from '../schema.ts';

/** Adds the language of the documents of an account. */
export const documentLanguages = {
  async up(db: Kysely<Schema>) {
    await sql`alter table billing_profiles add column language text not null default 'en'`.execute(db);
  },
};
