/** What the operator API keeps. What the columns mean stands in operator-schema.ts. */
import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

import type { Schema } from '../schema.ts';
import { integerOf, tables } from './table.ts';
import type { Engine } from './table.ts';

export function operator(engine: Engine): Migration {
  const integer = integerOf(engine);
  return {
    async up(db: Kysely<Schema>) {
      const table = tables(db, engine);
      await table('settings', (t) =>
        t.addColumn('name', 'text', (c) => c.primaryKey().notNull()).addColumn('value', 'text', (c) => c.notNull()),
      );
      await table('verifiers', (t) =>
        t
          .addColumn('id', 'text', (c) => c.primaryKey().notNull())
          .addColumn('name', 'text', (c) => c.notNull())
          .addColumn('hash', 'text', (c) => c.notNull().unique())
          .addColumn('created', integer, (c) => c.notNull())
          .addColumn('revoked', integer),
      );
      await table('otp_attempts', (t) =>
        t
          .addColumn('caller', 'text', (c) => c.primaryKey().notNull())
          .addColumn('since', integer, (c) => c.notNull())
          .addColumn('failed', integer, (c) => c.notNull().check(sql`failed >= 0`)),
      );
      await table('faults', (t) =>
        t
          .addColumn('id', 'text', (c) => c.primaryKey().notNull())
          .addColumn('operations', 'text')
          .addColumn('api_key_ids', 'text')
          .addColumn('effect', 'text', (c) => c.notNull())
          .addColumn('times', integer, (c) => c.notNull())
          .addColumn('remaining', integer, (c) => c.notNull().check(sql`remaining between 0 and times`))
          .addColumn('created', integer, (c) => c.notNull()),
      );
      await table('snapshots', (t) =>
        t.addColumn('name', 'text', (c) => c.primaryKey().notNull()).addColumn('taken', integer, (c) => c.notNull()),
      );
      await table('snapshot_rows', (t) =>
        t
          .addColumn('snapshot', 'text', (c) => c.notNull().references('snapshots.name'))
          .addColumn('position', integer, (c) => c.notNull())
          .addColumn('table_name', 'text', (c) => c.notNull())
          .addColumn('rows', 'text', (c) => c.notNull())
          .addPrimaryKeyConstraint('snapshot_rows_key', ['snapshot', 'position']),
      );
      const { schema } = db;
      await schema
        .alterTable('api_keys')
        .addColumn('mode', 'text', (c) => c.notNull().defaultTo('sandbox'))
        .execute();
      for (const column of ['valid_until', 'rate_requests', 'rate_seconds'])
        await schema.alterTable('api_keys').addColumn(column, integer).execute();
      await schema.createIndex('keys_of_account').on('api_keys').columns(['account_id', 'created', 'id']).execute();
      await schema
        .alterTable('accounts')
        .addColumn('isolated', integer, (c) => c.notNull().defaultTo(0))
        .execute();
      await schema
        .alterTable('host_nodes')
        .addColumn('retired', integer, (c) => c.notNull().defaultTo(0))
        .execute();
      await schema
        .alterTable('dedicated_servers')
        .addColumn('offered_to', 'text', (c) => c.references('accounts.id'))
        .execute();
      await schema.alterTable('dedicated_servers').addColumn('offered_ips', 'text').execute();
      // A code is looked up by its hash alone from now on; those that are out live ten minutes.
      await db.deleteFrom('otps').execute();
      await schema.createIndex('otps_by_hash').on('otps').column('hash').unique().execute();
    },
  };
}
