/** In which order calls of the infrastructure were meant. What the columns mean stands in node-schema.ts. */
import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

import type { Schema } from '../schema.ts';
import { integerOf, tables } from './table.ts';
import type { Engine } from './table.ts';

export function turns(engine: Engine): Migration {
  const integer = integerOf(engine);
  return {
    async up(db: Kysely<Schema>) {
      await tables(db, engine)('turns', (t) =>
        t.addColumn('subject', 'text', (c) => c.primaryKey().notNull()).addColumn('number', integer, (c) => c.notNull()),
      );
      const { schema } = db;
      await schema
        .alterTable('reservations')
        .addColumn('subject', 'text', (c) => c.notNull().defaultTo(''))
        .execute();
      await schema
        .alterTable('reservations')
        .addColumn('turn', integer, (c) => c.notNull().defaultTo(0))
        .execute();
    },
  };
}
