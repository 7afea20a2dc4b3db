import type { Compilable, CompiledQuery, RawBuilder } from 'kysely';
import { sql } from 'kysely';

import type { AfterCommit, Claim, Db, TextTable } from './store.ts';

/** Marks the place of a parameter while the query is built. */
type Placeholder<Parameters> = <Name extends keyof Parameters & string>(name: Name) => RawBuilder<Parameters[Name]>;

/** Builds a query, with `parameter('name')` in the place of each parameter. `claim` locks rows if the engine has row locks. */
type Build<Parameters, Row> = (db: Db, parameter: Placeholder<Parameters>, claim: Claim) => Compilable<Row>;

/** A compiled query with its parameters. */
export interface Statement {
  readonly text: string;
  readonly values: readonly unknown[];
}

/** How a statement relates to others that run at the same time. */
export interface Contention {
  /**
   * Whether other requests change the same row. An engine that waits for locks sends these statements last, in the order in which they
   * were issued, so that the lock lasts for the rest of one message and not for a round trip.
   */
  readonly isContended: boolean;
}

type Now<T> = T | Promise<T>;

/** The rows of a statement. Undefined if it has run and returned another number of rows than expected. */
export type ExpectedRows<Row> = AfterCommit<readonly Row[]> | undefined;

/** Runs the prepared queries of a connection. */
export interface Runner {
  /** The connections of a store share it, so that each query is compiled once. */
  readonly scope: object;
  readonly claim: Claim;
  readonly textTable: TextTable;
  /**
   * Whether the transaction waits for rows that others have locked, because it has thrown a RowsTakenError before. Undefined if
   * transactions do not run at the same time.
   */
  waitsForRows(): boolean | undefined;
  rows<Row>(statement: Statement): Now<Row[]>;
  /** Runs a write at the latest with the next statement that returns something, or with the commit. */
  defer(statement: Statement): Now<void>;
  /** Runs a write that is expected to change one row. See `preparedOne`. */
  changesOne(statement: Statement, contention: Contention): Now<boolean>;
  /** Runs a statement that is expected to return a number of rows. See `rowsAfterCommit`. */
  laterRows<Row>(statement: Statement, count: number): Now<ExpectedRows<Row>>;
}

const runners = new WeakMap<Db, Runner>();

/** Sends the prepared queries of a connection to its driver directly, because Kysely's path takes longer than most of them. */
export function runDirectly(db: Db, runner: Runner): void {
  runners.set(db, runner);
}

/** Identifies the store of a connection, for caches. */
export function scopeOf(db: Db): object {
  return runners.get(db)?.scope ?? db;
}

/**
 * A query for the paths of every request. It is compiled once for each store, because compiling most queries takes longer than running
 * them.
 *
 * @returns A function that runs the query and returns its rows.
 */
export function prepared<Parameters extends object, Row>(
  build: Build<Parameters, Row>,
): (db: Db, parameters: Parameters) => Promise<Row[]> {
  const compiled = compiling(build);
  return async (db, parameters) => {
    const { query, statement } = compiled(db, parameters);
    const runner = runners.get(db);
    if (runner) return runner.rows<Row>(statement);
    return (await db.executeQuery<Row>({ ...query, parameters: statement.values })).rows;
  };
}

/**
 * Like `prepared`, for a write whose result is not needed. It is sent to PostgreSQL with the next statement, without a round trip of its
 * own.
 */
export function deferredWrite<Parameters extends object>(
  build: Build<Parameters, unknown>,
): (db: Db, parameters: Parameters) => Promise<void> {
  const compiled = compiling(build);
  return async (db, parameters) => {
    const { query, statement } = compiled(db, parameters);
    const runner = runners.get(db);
    if (runner) await runner.defer(statement);
    else await changedRows(db, query, statement);
  };
}

/**
 * Like `prepared`, for a statement that nearly always changes or finds one row. An engine with a network assumes that result, and sends the
 * statement with the commit. If the assumption is wrong, the transaction is rolled back and runs again without assumptions.
 *
 * @returns A function that runs it and returns whether it changed or found one row.
 */
export function preparedOne<Parameters extends object>(
  build: Build<Parameters, unknown>,
  contention: Contention = { isContended: false },
): (db: Db, parameters: Parameters) => Promise<boolean> {
  const compiled = compiling(build);
  return async (db, parameters) => {
    const { query, statement } = compiled(db, parameters);
    const runner = runners.get(db);
    return runner ? runner.changesOne(statement, contention) : (await changedRows(db, query, statement)) === 1;
  };
}

/** Like `preparedOne`, for a statement that nearly always returns a known number of rows, which are not needed before the commit. */
export function rowsAfterCommit<Parameters extends object, Row>(
  build: Build<Parameters, Row>,
): (db: Db, parameters: Parameters, count: number) => Promise<ExpectedRows<Row>> {
  const compiled = compiling(build);
  return async (db, parameters, count) => {
    const { query, statement } = compiled(db, parameters);
    const runner = runners.get(db);
    if (runner) return runner.laterRows<Row>(statement, count);
    return known((await db.executeQuery<Row>({ ...query, parameters: statement.values })).rows, count);
  };
}

/** Whether the transaction waits for rows that others have locked, because it has thrown a RowsTakenError before. */
export function waitsForRows(db: Db): boolean {
  return runners.get(db)?.waitsForRows() === true;
}

/** Whether the transaction could wait for rows that others have locked, and has not done so yet. */
export function mayWaitForRows(db: Db): boolean {
  return runners.get(db)?.waitsForRows() === false;
}

/**
 * A table expression with a row for each text: its `position` from 0, and its `value`. For a long list, this is faster than a list of
 * values in Kysely.
 */
export function tableOfTexts(db: Db, texts: readonly string[]): RawBuilder<unknown> {
  const runner = runners.get(db);
  if (!runner) throw new Error('The connection belongs to no store.');
  return runner.textTable(JSON.stringify(texts));
}

function claimOf(db: Db): Claim {
  return runners.get(db)?.claim ?? ((query) => query);
}

/** The result of a statement that has run. */
export function known<Row>(rows: readonly Row[], count: number): ExpectedRows<Row> {
  return rows.length === count ? () => rows : undefined;
}

async function changedRows(db: Db, query: CompiledQuery, { values }: Statement): Promise<number> {
  const { numAffectedRows, rows } = await db.executeQuery({ ...query, parameters: values });
  return Number(numAffectedRows ?? rows.length);
}

/** A parameter of the compiled query: a named one of the caller, or a fixed value. */
type Source<Parameters> = { readonly name: keyof Parameters } | { readonly value: unknown };

function compiling<Parameters extends object, Row>(build: Build<Parameters, Row>) {
  const compiled = new WeakMap<object, { readonly query: CompiledQuery<Row>; readonly sources: readonly Source<Parameters>[] }>();
  return (db: Db, parameters: Parameters): { query: CompiledQuery<Row>; statement: Statement } => {
    const scope = scopeOf(db);
    let kept = compiled.get(scope);
    if (!kept) {
      const markers = new Map<unknown, keyof Parameters & string>();
      const query = build(
        db,
        (name) => {
          const marker = { name };
          markers.set(marker, name);
          return sql`${marker}`;
        },
        claimOf(db),
      ).compile();
      const sources = query.parameters.map((value): Source<Parameters> => {
        const name = markers.get(value);
        return name === undefined ? { value } : { name };
      });
      kept = { query, sources };
      compiled.set(scope, kept);
    }
    return {
      query: kept.query,
      statement: {
        text: kept.query.sql,
        values: kept.sources.map((source) => ('name' in source ? parameters[source.name] : source.value)),
      },
    };
  };
}
