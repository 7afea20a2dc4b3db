/** One change of a VM at a time. What the columns mean stands in schema.ts. */
import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

import type { Schema } from '../schema.ts';
import { integerOf } from './table.ts';
import type { Engine } from './table.ts';

export function vmChanges(engine: Engine): Migration {
  return {
    async up({ schema }: Kysely<Schema>) {
      await schema
        .alterTable('vms')
        .addColumn('changing', integerOf(engine), (c) => c.notNull().defaultTo(0))
        .execute();
    },
  };
}
