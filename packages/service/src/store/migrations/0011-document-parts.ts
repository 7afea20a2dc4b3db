import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

import type { Schema } from '../schema.ts';
import type { Engine } from '../store.ts';

/** Stores the PDF of a long document in parts. A row of many megabytes takes a second, in which nobody else is served. */
export function documentParts(engine: Engine): Migration {
  const integer = sql.raw(engine === 'sqlite' ? 'integer' : 'bigint');
  const strict = sql.raw(engine === 'sqlite' ? 'strict' : '');
  return {
    async up(db: Kysely<Schema>) {
      await sql`
        create table document_parts (
          document_id text not null references issued_documents (id),
          number ${integer} not null,
          account_id text not null references accounts (id),
          pdf text not null,
          primary key (document_id, number)
        ) ${strict}`.execute(db);
      await sql`alter table issued_documents add column pdf_parts ${integer}`.execute(db);
    },
  };
}
