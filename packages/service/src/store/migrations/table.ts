import { sql } from 'kysely';
import type { CreateTableBuilder, Kysely } from 'kysely';

import type { Schema } from '../schema.ts';

export type Engine = 'sqlite' | 'postgres';

/** The type of every integer column: 64 bits on both engines. */
export function integerOf(engine: Engine): 'integer' | 'bigint' {
  return engine === 'sqlite' ? 'integer' : 'bigint';
}

/** Creates tables in the engine's strict manner. */
export function tables(db: Kysely<Schema>, engine: Engine) {
  return async (
    name: keyof Schema,
    columns: (builder: CreateTableBuilder<string>) => CreateTableBuilder<string, string>,
  ): Promise<void> => {
    const builder = columns(db.schema.createTable(name));
    await (engine === 'sqlite' ? builder.modifyEnd(sql`strict`) : builder).execute();
  };
}
