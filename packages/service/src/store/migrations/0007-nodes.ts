/** What several nodes on one store know of one another. What the columns mean stands in node-schema.ts. */
import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

import type { Schema } from '../schema.ts';
import { integerOf, tables } from './table.ts';
import type { Engine } from './table.ts';

export function nodes(engine: Engine): Migration {
  const integer = integerOf(engine);
  return {
    async up(db: Kysely<Schema>) {
      const table = tables(db, engine);
      await table('identity', (t) =>
        t
          .addColumn('id', integer, (c) =>
            c
              .primaryKey()
              .notNull()
              .check(sql`id = 1`),
          )
          .addColumn('secret_verifier', 'text', (c) => c.notNull())
          .addColumn('mode', 'text', (c) => c.notNull()),
      );
      await table('nodes', (t) =>
        t.addColumn('id', 'text', (c) => c.primaryKey().notNull()).addColumn('lease_until', integer, (c) => c.notNull()),
      );
      const { schema } = db;
      // Nobody has this name: what an older version left half-done is undone.
      await schema
        .alterTable('reservations')
        .addColumn('owner', 'text', (c) => c.notNull().defaultTo(''))
        .execute();
      await schema.alterTable('dedicated_servers').addColumn('fleet_owner', 'text').execute();
      await schema.createIndex('idempotency_keys_by_age').on('idempotency_keys').column('created').execute();
      // Counters that a crash may lose: nothing of them is worth waiting for a disk.
      if (engine === 'postgres')
        await sql`create unlogged table event_windows (name text primary key, ends bigint not null, count bigint not null)`.execute(db);
    },
  };
}
