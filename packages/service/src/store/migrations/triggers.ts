import { sql } from 'kysely';
import type { Kysely } from 'kysely';

import type { Schema } from '../schema.ts';
import type { Engine } from '../store.ts';

/** A statement that the store executes after each change of a row. */
export interface RowTrigger {
  readonly trigger: string;
  /** Such as `insert on domains`. */
  readonly event: string;
  /** SQL: the changes after which it is executed. */
  readonly when: string;
  /** SQL. */
  readonly action: string;
}

export async function createTrigger(db: Kysely<Schema>, engine: Engine, { trigger, event, when, action }: RowTrigger): Promise<void> {
  const statement = sql.raw(action);
  if (engine === 'postgres')
    await sql`create function ${sql.ref(trigger)}() returns trigger language plpgsql as $$ begin ${statement}; return null; end $$`.execute(
      db,
    );
  const body = engine === 'sqlite' ? sql`begin ${statement}; end` : sql`execute function ${sql.ref(trigger)}()`;
  await sql`create trigger ${sql.ref(trigger)} after ${sql.raw(event)} for each row when (${sql.raw(when)}) ${body}`.execute(db);
}
