/** Domains, their DNS records, handles and the price list. What the columns mean stands in domain-schema.ts. */
import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

import type { Schema } from '../schema.ts';
import { integerOf, tables } from './table.ts';
import type { Engine } from './table.ts';

export function domains(engine: Engine): Migration {
  const integer = integerOf(engine);
  return {
    async up(db: Kysely<Schema>) {
      const table = tables(db, engine);
      await table('tlds', (t) =>
        t
          .addColumn('tld', 'text', (c) => c.primaryKey().notNull())
          .addColumn('create_price', integer, (c) => c.notNull().check(sql`create_price >= 0`))
          .addColumn('renew_price', integer, (c) => c.notNull().check(sql`renew_price >= 0`))
          .addColumn('transfer_price', integer, (c) => c.notNull().check(sql`transfer_price >= 0`)),
      );
      await table('handles', (t) =>
        t
          .addColumn('id', 'text', (c) => c.primaryKey().notNull())
          .addColumn('account_id', 'text', (c) => c.notNull().references('accounts.id'))
          .addColumn('type', 'text', (c) => c.notNull())
          .addColumn('gender', 'text', (c) => c.notNull())
          .addColumn('firstname', 'text', (c) => c.notNull())
          .addColumn('lastname', 'text', (c) => c.notNull())
          .addColumn('organisation', 'text')
          .addColumn('street', 'text', (c) => c.notNull())
          .addColumn('number', 'text', (c) => c.notNull())
          .addColumn('zipcode', 'text', (c) => c.notNull())
          .addColumn('city', 'text', (c) => c.notNull())
          .addColumn('region', 'text', (c) => c.notNull())
          .addColumn('countrycode', 'text', (c) => c.notNull())
          .addColumn('email', 'text', (c) => c.notNull())
          .addColumn('phone', 'text')
          .addColumn('fax', 'text')
          .addColumn('created', integer, (c) => c.notNull()),
      );
      await table('domains', (t) =>
        t
          .addColumn('name', 'text', (c) => c.primaryKey().notNull())
          .addColumn('account_id', 'text', (c) => c.notNull().references('accounts.id'))
          .addColumn('state', 'text', (c) => c.notNull())
          .addColumn('sld', 'text', (c) => c.notNull())
          .addColumn('tld', 'text', (c) => c.notNull().references('tlds.tld'))
          .addColumn('handle', 'text', (c) => c.notNull().references('handles.id'))
          .addColumn('sealed_authcode', 'text')
          .addColumn('terminated', integer, (c) => c.notNull().check(sql`terminated in (0, 1)`))
          .addColumn('ns1', 'text', (c) => c.notNull())
          .addColumn('ns2', 'text', (c) => c.notNull())
          .addColumn('ns3', 'text')
          .addColumn('ns4', 'text')
          .addColumn('ns5', 'text')
          .addColumn('created', integer, (c) => c.notNull())
          .addColumn('expires', integer, (c) => c.notNull().check(sql`expires > created`))
          .addColumn('locked_until', integer, (c) => c.notNull()),
      );
      await table('dns_records', (t) =>
        t
          .addColumn('domain', 'text', (c) => c.notNull().references('domains.name'))
          .addColumn('sub', 'text', (c) => c.notNull())
          .addColumn('type', 'text', (c) => c.notNull())
          .addColumn('data', 'text', (c) => c.notNull())
          .addColumn('changed', integer, (c) => c.notNull())
          .addPrimaryKeyConstraint('dns_records_key', ['domain', 'sub', 'type']),
      );
      await db.schema.createIndex('domains_of_account').on('domains').columns(['account_id', 'name']).execute();
      // Renewals and ends are found by it.
      await db.schema.createIndex('domains_by_expiry').on('domains').columns(['state', 'expires', 'name']).execute();
    },
  };
}
