import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';

import type { Schema } from '../schema.ts';
import type { Engine } from '../store.ts';

/** Adds what an order in delivery holds beyond its details since the month of the order has ended. */
export function holdsOfDeliveries(engine: Engine): Migration {
  const integer = sql.raw(engine === 'sqlite' ? 'integer' : 'bigint');
  return {
    async up(db: Kysely<Schema>) {
      await sql`alter table reservations add column extra_hold ${integer} not null default 0`.execute(db);
    },
  };
}
