/** Dedicated servers, those on the market among them. What the columns mean stands in dedicated-schema.ts. */
import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

import type { Schema } from '../schema.ts';
import { integerOf, tables } from './table.ts';
import type { Engine } from './table.ts';

export function dedicated(engine: Engine): Migration {
  const integer = integerOf(engine);
  return {
    async up(db: Kysely<Schema>) {
      const table = tables(db, engine);
      await table('dedicated_servers', (t) =>
        t
          .addColumn('id', 'text', (c) => c.primaryKey().notNull())
          .addColumn('account_id', 'text', (c) => c.references('accounts.id'))
          .addColumn('state', 'text', (c) => c.notNull().check(sql`state in ('offered', 'ordered', 'deployed', 'ended')`))
          .addColumn('terminated', integer, (c) => c.notNull().check(sql`terminated in (0, 1)`))
          .addColumn('due', integer)
          .addColumn('version', integer, (c) => c.notNull())
          .addColumn('datacenter_name', 'text', (c) => c.notNull())
          .addColumn('datacenter_displayname', 'text', (c) => c.notNull())
          .addColumn('datacenter_country', 'text', (c) => c.notNull())
          .addColumn('datacenter_city', 'text', (c) => c.notNull())
          .addColumn('hardware', 'text', (c) => c.notNull())
          .addColumn('network', 'text', (c) => c.notNull())
          .addColumn('status_type', 'text', (c) => c.notNull())
          .addColumn('status_description', 'text', (c) => c.notNull())
          .addColumn('price', integer, (c) => c.notNull().check(sql`price >= 0`))
          .addColumn('runtime_days', integer, (c) => c.notNull().check(sql`runtime_days > 0`))
          .addColumn('hold', integer, (c) => c.notNull().check(sql`hold >= 0`))
          .addColumn('fleet_task', 'text', (c) => c.check(sql`fleet_task in ('set_up', 'retire')`))
          .addColumn('dashboard', 'text')
          .addColumn('username', 'text')
          .addColumn('email', 'text')
          .addColumn('sealed_password', 'text')
          .addColumn('created', integer, (c) => c.notNull())
          .addColumn('ordered', integer)
          .addColumn('deployed', integer)
          .addColumn('ended', integer)
          .addCheckConstraint('owned_unless_offered', sql`(state = 'offered') = (account_id is null)`)
          .addCheckConstraint('deployed_has_renewal', sql`state <> 'deployed' or due is not null`),
      );
      await table('dedicated_addresses', (t) =>
        t
          .addColumn('address', 'text', (c) => c.primaryKey().notNull())
          .addColumn('server_id', 'text', (c) => c.notNull().references('dedicated_servers.id'))
          .addColumn('family', integer, (c) => c.notNull().check(sql`family in (4, 6)`))
          .addColumn('gateway', 'text', (c) => c.notNull())
          .addColumn('position', integer, (c) => c.notNull()),
      );
      await db.schema.createIndex('servers_of_account').on('dedicated_servers').columns(['account_id', 'due']).execute();
      await db.schema
        .createIndex('servers_by_due')
        .on('dedicated_servers')
        .columns(['due', 'id'])
        .where(sql.ref('due'), 'is not', null)
        .execute();
      await db.schema
        .createIndex('servers_by_fleet_task')
        .on('dedicated_servers')
        .column('id')
        .where(sql.ref('fleet_task'), 'is not', null)
        .execute();
      await db.schema
        .createIndex('servers_on_market')
        .on('dedicated_servers')
        .columns(['created', 'id'])
        .where(sql.ref('state'), '=', sql.lit('offered'))
        .execute();
      await db.schema.createIndex('addresses_of_server').on('dedicated_addresses').columns(['server_id', 'family', 'position']).execute();
    },
  };
}
