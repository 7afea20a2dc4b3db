import { sql } from 'kysely';
import type { Kysely } from 'kysely';

import type { Schema } from '../schema.ts';

/** Adds the identifier with which adapters mark what the service creates. `serviceIdOf` fills it. */
export const serviceId = {
  async up(db: Kysely<Schema>) {
    await sql`alter table identity add column service_id text`.execute(db);
  },
};
