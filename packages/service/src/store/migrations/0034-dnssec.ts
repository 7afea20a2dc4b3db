import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

import type { Schema } from '../schema.ts';
import type { Engine } from '../store.ts';
import { DELEGATION, differs, IN_USE } from './0025-events.ts';
import { DOMAIN_CHANGED, replaceOccasion } from './0028-transfer-locks.ts';

/** Adds the DNSSEC of domains. A change of their DS records is an event. */
export function dnssec(engine: Engine): Migration {
  const integer = sql.raw(engine === 'sqlite' ? 'integer' : 'bigint');
  const changed = differs([...DELEGATION, 'transfer_lock', 'ds_records']);
  return {
    async up(db: Kysely<Schema>) {
      await sql`alter table domains add column dnssec_by text`.execute(db);
      await sql`alter table domains add column ds_records text not null default '[]'`.execute(db);
      await sql`alter table domains add column delegation_settled ${integer} not null default 0`.execute(db);
      const when = `old.state in ${IN_USE} and ${changed} and old.account_id = new.account_id`;
      await replaceOccasion(db, engine, { ...DOMAIN_CHANGED, when });
    },
  };
}
