import { sql } from 'kysely';
import type { Kysely } from 'kysely';

import type { Schema } from '../schema.ts';
import type { Engine } from '../store.ts';

/** Adds the platform, the picture and the smallest disk of an operating system. Only Windows has the login user Administrator. */
export function osImageFacts(engine: Engine) {
  const integer = sql.raw(engine === 'sqlite' ? 'integer' : 'bigint');
  return {
    async up(db: Kysely<Schema>) {
      await sql`alter table os_images add column platform text not null default 'linux'`.execute(db);
      await sql`alter table os_images add column icon text`.execute(db);
      await sql`alter table os_images add column min_disk ${integer} not null default 1`.execute(db);
      await sql`update os_images set platform = 'windows' where username = 'Administrator'`.execute(db);
    },
  };
}
