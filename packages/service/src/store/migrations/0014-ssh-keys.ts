import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

import type { Schema } from '../schema.ts';
import type { Engine } from '../store.ts';

/** Adds the SSH keys of accounts. */
export function sshKeys(engine: Engine): Migration {
  const integer = sql.raw(engine === 'sqlite' ? 'integer' : 'bigint');
  const options = sql.raw(engine === 'sqlite' ? 'strict' : '');
  return {
    async up(db: Kysely<Schema>) {
      await sql`
        create table ssh_keys (
          id text primary key not null,
          account_id text not null references accounts (id),
          displayname text not null,
          public_key text not null,
          fingerprint text not null,
          created ${integer} not null,
          constraint ssh_keys_fingerprint unique (account_id, fingerprint)
        ) ${options}
      `.execute(db);
    },
  };
}
