import { sql } from 'kysely';
import type { Kysely } from 'kysely';

import type { Schema } from '../schema.ts';
import type { Engine } from '../store.ts';

/** Only Windows has this login user. */
const IS_WINDOWS = sql`username = 'Administrator'`;

/** Adds the platform, the picture and the smallest disk of an operating system. */
export function osImageFacts(engine: Engine) {
  const integer = sql.raw(engine === 'sqlite' ? 'integer' : 'bigint');
  return {
    async up(db: Kysely<Schema>) {
      await sql`alter table os_images add column platform text not null default 'linux'`.execute(db);
      await sql`alter table os_images add column icon text`.execute(db);
      await sql`alter table os_images add column min_disk ${integer} not null default 1`.execute(db);
      // An update of no row would change the version of the catalogue on PostgreSQL, and the store would no longer be empty.
      const { rows } = await sql`select name from os_images where ${IS_WINDOWS} limit 1`.execute(db);
      if (rows.length > 0) await sql`update os_images set platform = 'windows' where ${IS_WINDOWS}`.execute(db);
    },
  };
}
