import type { Compilable, CompiledQuery } from 'kysely';
import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';

import type { Db } from './store.ts';

/** Stands for a parameter while the query is built. */
type Placeholder<Parameters> = <Name extends keyof Parameters & string>(name: Name) => RawBuilder<Parameters[Name]>;

/** The same query, run with other parameters. */
export type PreparedQuery<Parameters, Row> = (db: Db, parameters: Parameters) => Promise<Row[]>;

/**
 * A query that is compiled once for each connection: compiling costs more than what most of these
 * queries do. For the paths that every request takes.
 *
 * @param build Builds the query, with `parameter('name')` wherever a parameter goes.
 */
export function prepared<Parameters extends Readonly<Record<string, unknown>>, Row>(
  build: (db: Db, parameter: Placeholder<Parameters>) => Compilable<Row>,
): PreparedQuery<Parameters, Row> {
  const compiled = new WeakMap<Db, { query: CompiledQuery<Row>; names: readonly (keyof Parameters | { value: unknown })[] }>();
  return async (db, parameters) => {
    let known = compiled.get(db);
    if (!known) {
      const markers = new Map<unknown, keyof Parameters & string>();
      const query = build(db, (name) => {
        const marker = { name };
        markers.set(marker, name);
        return sql`${marker}`;
      }).compile();
      known = { query, names: query.parameters.map((value) => markers.get(value) ?? { value }) };
      compiled.set(db, known);
    }
    const { query, names } = known;
    const values = names.map((name) => (typeof name === 'object' ? name.value : parameters[name]));
    const { rows } = await db.executeQuery<Row>({ ...query, parameters: values });
    return rows;
  };
}
