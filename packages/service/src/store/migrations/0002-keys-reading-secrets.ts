import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

import type { Engine } from '../store.ts';

/** Adds whether a key that may only read also reads secrets. Existing keys of that kind no longer do. */
export function keysReadingSecrets(engine: Engine): Migration {
  const integer = engine === 'sqlite' ? sql`integer` : sql`bigint`;
  return {
    async up(db) {
      await sql`alter table api_keys add column reads_secrets ${integer} not null default 0`.execute(db);
    },
  };
}
