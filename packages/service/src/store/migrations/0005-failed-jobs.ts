import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

import type { Schema } from '../schema.ts';
import type { Engine } from '../store.ts';

/** Adds the jobs that failed. Without a foreign key, which would lock the accounts of the running version. */
export function failedJobs(engine: Engine): Migration {
  const integer = sql.raw(engine === 'sqlite' ? 'integer' : 'bigint');
  const options = sql.raw(engine === 'sqlite' ? 'strict' : '');
  return {
    async up(db: Kysely<Schema>) {
      await sql`
        create table failed_jobs (
          account_id text not null,
          work text not null,
          kind text not null,
          subject text not null,
          due ${integer} not null,
          reason text not null,
          attempts ${integer} not null,
          last_attempt ${integer} not null,
          next_attempt ${integer} not null,
          constraint failed_jobs_key primary key (account_id, work)
        ) ${options}
      `.execute(db);
    },
  };
}
