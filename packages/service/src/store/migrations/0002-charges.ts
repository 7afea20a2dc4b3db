/** What is charged once for a stretch of time: dedicated servers and domains. */
import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

import type { Schema } from '../schema.ts';
import { integerOf, tables } from './table.ts';
import type { Engine } from './table.ts';

export function charges(engine: Engine): Migration {
  const integer = integerOf(engine);
  return {
    async up(db: Kysely<Schema>) {
      await tables(db, engine)('charges', (t) =>
        t
          .addColumn('id', 'text', (c) => c.primaryKey().notNull())
          .addColumn('account_id', 'text', (c) => c.notNull().references('accounts.id'))
          .addColumn('invoice_id', 'text', (c) => c.references('invoices.id'))
          .addColumn('kind', 'text', (c) => c.notNull())
          .addColumn('subject', 'text', (c) => c.notNull())
          .addColumn('type', 'text', (c) => c.notNull())
          .addColumn('start', integer, (c) => c.notNull())
          .addColumn('stop', integer, (c) => c.notNull().check(sql`stop >= start`))
          .addColumn('amount', integer, (c) => c.notNull().check(sql`amount >= 0`))
          .addColumn('created', integer, (c) => c.notNull()),
      );
      await db.schema.createIndex('charges_of_account').on('charges').columns(['account_id', 'invoice_id']).execute();
      // Period ends are found by it.
      await db.schema.createIndex('accounts_by_period').on('accounts').columns(['period_start', 'id']).execute();
    },
  };
}
