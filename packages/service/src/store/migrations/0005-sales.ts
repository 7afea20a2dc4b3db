/** Sales, what they cost on which host system, and what VMs keep of them. */
import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

import type { Schema } from '../schema.ts';
import { integerOf, tables } from './table.ts';
import type { Engine } from './table.ts';

export function sales(engine: Engine): Migration {
  const integer = integerOf(engine);
  return {
    async up(db: Kysely<Schema>) {
      const table = tables(db, engine);
      await table('sales', (t) =>
        t
          .addColumn('id', 'text', (c) => c.primaryKey().notNull())
          .addColumn('account_id', 'text', (c) => c.references('accounts.id'))
          .addColumn('title', 'text', (c) => c.notNull())
          .addColumn('start', integer, (c) => c.notNull())
          .addColumn('stop', integer, (c) => c.check(sql`stop > start`))
          .addColumn('upgradable', integer, (c) => c.notNull())
          .addColumn('max_volume', integer, (c) => c.notNull().check(sql`max_volume > 0`))
          .addColumn('used_volume', integer, (c) => c.notNull().check(sql`used_volume between 0 and max_volume`))
          .addColumn('ended', integer)
          .addColumn('descriptions', 'text', (c) => c.notNull())
          .addColumn('created', integer, (c) => c.notNull()),
      );
      await table('sale_prices', (t) =>
        t
          .addColumn('sale_id', 'text', (c) => c.notNull().references('sales.id'))
          .addColumn('hostsystem', 'text', (c) => c.notNull().references('host_systems.name'))
          .addColumn('resource', 'text', (c) => c.notNull().check(sql`resource in ('core', 'mem', 'nvme')`))
          .addColumn('price_net', integer, (c) => c.notNull().check(sql`price_net >= 0`))
          .addPrimaryKeyConstraint('sale_prices_key', ['sale_id', 'hostsystem', 'resource']),
      );
      await db.schema.createIndex('sale_prices_of_host_system').on('sale_prices').column('hostsystem').execute();
      await db.schema
        .alterTable('vms')
        .addColumn('sale_id', 'text', (c) => c.references('sales.id'))
        .execute();
      await db.schema
        .alterTable('vms')
        .addColumn('price_basis', 'text', (c) => c.notNull().defaultTo('STANDARD'))
        .execute();
      // The invoices of an account, newest first, are the unique constraint's index read backwards.
    },
  };
}
