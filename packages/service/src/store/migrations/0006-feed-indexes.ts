import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

import type { Schema } from '../schema.ts';

/** Finds the events of one type, and the deliveries in one state, among a million of an account. */
export const feedIndexes: Migration = {
  async up(db: Kysely<Schema>) {
    await sql`create index events_by_type on events (account_id, type, position)`.execute(db);
    await sql`create index deliveries_by_state on webhook_deliveries (webhook_id, state, number)`.execute(db);
  },
};
