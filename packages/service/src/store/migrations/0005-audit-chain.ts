import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

import type { Schema } from '../schema.ts';
import type { Engine } from '../store.ts';

/**
 * Adds the chain of audit records, groups of failed authentications, and confirmations by a second operator. Wrong one-time codes are also
 * counted for operator tokens, so their table no longer refers to verifiers.
 */
export function auditChain(engine: Engine): Migration {
  const integer = sql.raw(engine === 'sqlite' ? 'integer' : 'bigint');
  const strict = sql.raw(engine === 'sqlite' ? ' strict' : '');
  return {
    async up(db: Kysely<Schema>) {
      for (const column of [sql`seq ${integer}`, sql`salt text`, sql`content_hash text`, sql`hash text`])
        await sql`alter table audit_records add column ${column}`.execute(db);
      await sql`create unique index audit_records_by_seq on audit_records (seq)`.execute(db);
      await sql`
        create table audit_chain (
          id ${integer} primary key not null check (id = 1),
          seq ${integer} not null,
          hash text not null,
          deleted_seq ${integer} not null,
          deleted_hash text not null
        )${strict}
      `.execute(db);
      await sql`
        create table failed_authentications (
          minute ${integer} not null,
          api text not null,
          network text not null,
          count ${integer} not null,
          constraint failed_authentications_key primary key (minute, api, network)
        )${strict}
      `.execute(db);
      await sql`
        create table confirmations (
          operation text not null,
          target text not null,
          actor text not null,
          requested ${integer} not null,
          constraint confirmations_key primary key (operation, target)
        )${strict}
      `.execute(db);
      await sql`drop table otp_attempts`.execute(db);
      await sql`
        create table otp_attempts (
          verifier_id text not null,
          account_id text not null,
          since ${integer} not null,
          failed ${integer} not null check (failed >= 0),
          constraint otp_attempts_key primary key (verifier_id, account_id)
        )${strict}
      `.execute(db);
    },
  };
}
