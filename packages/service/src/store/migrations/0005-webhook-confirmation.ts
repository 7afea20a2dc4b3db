import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

import type { Schema } from '../schema.ts';
import type { Engine } from '../store.ts';

/** Adds which delivery confirms the URL of a webhook. URLs from before the migration count as confirmed. */
export function webhookConfirmation(engine: Engine): Migration {
  const integer = sql.raw(engine === 'sqlite' ? 'integer' : 'bigint');
  return {
    async up(db: Kysely<Schema>) {
      await sql`alter table webhooks add column confirming ${integer}`.execute(db);
    },
  };
}
