import type { Compilable, CompiledQuery, RawBuilder } from 'kysely';
import { sql } from 'kysely';

import type { Db } from './store.ts';

/** Stands for a parameter while the query is built. */
type Placeholder<Parameters> = <Name extends keyof Parameters & string>(name: Name) => RawBuilder<Parameters[Name]>;

/** Builds a query, with `parameter('name')` wherever a parameter goes. */
type Build<Parameters, Row> = (db: Db, parameter: Placeholder<Parameters>) => Compilable<Row>;

/** Runs SQL on a connection whose driver answers at once. */
export interface DirectRunner {
  all<Row>(text: string, parameters: readonly unknown[]): Row[];
  /** @returns How many rows it changed. */
  run(text: string, parameters: readonly unknown[]): number;
}

const runners = new WeakMap<Db, DirectRunner>();

/** Has prepared queries of a connection go to its driver directly: Kysely's way there takes longer than most of them. */
export function runDirectly(db: Db, runner: DirectRunner): void {
  runners.set(db, runner);
}

/**
 * A query that is compiled once for each connection: compiling costs more than what most of these
 * queries do. For the paths that every request takes.
 *
 * @returns Runs it with the given parameters and answers its rows.
 */
export function prepared<Parameters extends object, Row>(
  build: Build<Parameters, Row>,
): (db: Db, parameters: Parameters) => Promise<Row[]> {
  const compiled = compiling(build);
  return async (db, parameters) => {
    const { query, values } = compiled(db, parameters);
    const runner = runners.get(db);
    if (runner) return runner.all<Row>(query.sql, values);
    return (await db.executeQuery<Row>({ ...query, parameters: values })).rows;
  };
}

/**
 * The same for an INSERT, UPDATE or DELETE that returns no rows.
 *
 * @returns Runs it with the given parameters and answers how many rows it changed.
 */
export function preparedWrite<Parameters extends object>(
  build: Build<Parameters, unknown>,
): (db: Db, parameters: Parameters) => Promise<number> {
  const compiled = compiling(build);
  return async (db, parameters) => {
    const { query, values } = compiled(db, parameters);
    const runner = runners.get(db);
    if (runner) return runner.run(query.sql, values);
    return Number((await db.executeQuery({ ...query, parameters: values })).numAffectedRows ?? 0n);
  };
}

/** Where the value of a parameter comes from: by its name from those given, or fixed in the query. */
type Source<Parameters> = { readonly name: keyof Parameters } | { readonly value: unknown };

function compiling<Parameters extends object, Row>(build: Build<Parameters, Row>) {
  const compiled = new WeakMap<Db, { readonly query: CompiledQuery<Row>; readonly sources: readonly Source<Parameters>[] }>();
  return (db: Db, parameters: Parameters): { query: CompiledQuery<Row>; values: unknown[] } => {
    let known = compiled.get(db);
    if (!known) {
      const markers = new Map<unknown, keyof Parameters & string>();
      const query = build(db, (name) => {
        const marker = { name };
        markers.set(marker, name);
        return sql`${marker}`;
      }).compile();
      const sources = query.parameters.map((value): Source<Parameters> => {
        const name = markers.get(value);
        return name === undefined ? { value } : { name };
      });
      known = { query, sources };
      compiled.set(db, known);
    }
    return {
      query: known.query,
      values: known.sources.map((source) => ('name' in source ? parameters[source.name] : source.value)),
    };
  };
}
