import type { Compilable, CompiledQuery, RawBuilder } from 'kysely';
import { sql } from 'kysely';

import type { Db } from './store.ts';

/** Marks the place of a parameter while the query is built. */
type Placeholder<Parameters> = <Name extends keyof Parameters & string>(name: Name) => RawBuilder<Parameters[Name]>;

/** Builds a query, with `parameter('name')` in the place of each parameter. */
type Build<Parameters, Row> = (db: Db, parameter: Placeholder<Parameters>) => Compilable<Row>;

/** Runs SQL on a connection with a synchronous driver. */
export interface DirectRunner {
  all<Row>(text: string, parameters: readonly unknown[]): Row[];
  /** @returns The number of changed rows. */
  run(text: string, parameters: readonly unknown[]): number;
}

const runners = new WeakMap<Db, DirectRunner>();

/** Sends the prepared queries of a connection to its driver directly, because Kysely's path takes longer than most of them. */
export function runDirectly(db: Db, runner: DirectRunner): void {
  runners.set(db, runner);
}

/**
 * A query for the paths of every request. It is compiled once for each connection, because compiling most queries takes longer than
 * running them.
 *
 * @returns A function that runs the query and returns its rows.
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
 * @returns A function that runs it and returns the number of changed rows.
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

/** A parameter of the compiled query: a named one of the caller, or a fixed value. */
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
