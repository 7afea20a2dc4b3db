/** Identifiers of removed VMs are given to other VMs. What the columns mean stands in schema.ts. */
import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

import type { Schema } from '../schema.ts';
import { integerOf, tables } from './table.ts';
import type { Engine } from './table.ts';

export function vmIdentifiers(engine: Engine): Migration {
  const integer = integerOf(engine);
  return {
    async up(db: Kysely<Schema>) {
      await db.schema.alterTable('vms').addColumn('removed', integer).execute();
      // When a VM was removed was not kept before; it was not billed after its last position.
      await sql`
        update vms set removed = coalesce((select max(stop) from positions where vm_id = vms.id) * 1000, created) where state = 'removed'
      `.execute(db);

      // Positions stay when the row of their VM goes. SQLite cannot drop a reference, so the table is made anew.
      if (engine === 'postgres') {
        await db.schema.alterTable('positions').dropConstraint('positions_vm_id_fkey').execute();
        return;
      }
      await db.schema.alterTable('positions').renameTo('positions_before').execute();
      await tables(db, engine)('positions', (t) =>
        t
          .addColumn('vm_id', integer, (c) => c.notNull())
          .addColumn('number', integer, (c) => c.notNull())
          .addColumn('account_id', 'text', (c) => c.notNull().references('accounts.id'))
          .addColumn('invoice_id', 'text', (c) => c.references('invoices.id'))
          .addColumn('type', 'text', (c) => c.notNull())
          .addColumn('start', integer, (c) => c.notNull())
          .addColumn('stop', integer, (c) => c.check(sql`stop >= start`))
          .addColumn('monthly_price', integer, (c) => c.notNull())
          .addColumn('hold', integer, (c) => c.notNull())
          .addPrimaryKeyConstraint('positions_key', ['vm_id', 'number']),
      );
      await sql`insert into positions select * from positions_before`.execute(db);
      await db.schema.dropTable('positions_before').execute();
      await db.schema.createIndex('positions_of_account').on('positions').columns(['account_id', 'invoice_id']).execute();
    },
  };
}
