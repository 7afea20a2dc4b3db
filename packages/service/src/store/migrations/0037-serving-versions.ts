import { sql } from 'kysely';
import type { Kysely } from 'kysely';

import type { Schema } from '../schema.ts';

/** Adds the version with which an instance serves requests, so that an older instance leaves only when a newer one has taken over. */
export const servingVersions = {
  async up(db: Kysely<Schema>) {
    await sql`alter table instances add column serves text`.execute(db);
  },
};
