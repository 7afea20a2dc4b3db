import type { Compilable, RawBuilder } from 'kysely';
import { sql } from 'kysely';

import type { Claim, Db, Lock, TextTable, Transaction } from './store.ts';

/** Marks the place of a parameter while the query is built. */
type Placeholder<Parameters> = <Name extends keyof Parameters & string>(name: Name) => RawBuilder<Parameters[Name]>;

/** Builds a query, with `parameter('name')` in the place of each parameter. `claim` locks rows if the engine has row locks. */
type Build<Parameters, Row> = (db: Db, parameter: Placeholder<Parameters>, claim: Claim) => Compilable<Row>;

/** A compiled query with its parameters. */
export interface Statement {
  /** The same for each run of the query, and of no other one. */
  readonly name: string;
  readonly text: string;
  readonly values: readonly unknown[];
}

/** Runs the prepared queries of a connection. */
export interface Runner {
  /** The connections of a store share it, so that each query is compiled once. */
  readonly scope: object;
  readonly claim: Claim;
  readonly textTable: TextTable;
  readonly lock: Lock;
  rows<Row>(statement: Statement): Row[] | Promise<Row[]>;
}

/** A query that is sent as soon as it is called, in the order of the calls. */
export interface PreparedQuery<Parameters, Row> {
  (db: Db, parameters: Parameters): Promise<Row[]>;
  readonly isPrepared: true;
}

let compiledQueries = 0;

const runners = new WeakMap<Db, Runner>();

/** Sends the prepared queries of a connection to its driver directly, because Kysely's path takes longer than most of them. */
export function runDirectly(db: Db, runner: Runner): void {
  runners.set(db, runner);
}

function runnerOf(db: Db): Runner {
  const runner = runners.get(db);
  if (!runner) throw new Error('The connection belongs to no store.');
  return runner;
}

/** Identifies the store of a connection, for caches. */
export function scopeOf(db: Db): object {
  return runnerOf(db).scope;
}

/** As `Sharing.lock`, for code that knows only the connection. */
export const lockName: Lock = (db, name, mode) => runnerOf(db).lock(db, name, mode);

/**
 * A query for the paths of every request. It is compiled once for each store, because compiling most queries takes longer than running
 * them.
 *
 * @returns A function that runs the query and returns its rows.
 */
export function prepared<Parameters extends object, Row>(build: Build<Parameters, Row>): PreparedQuery<Parameters, Row> {
  const compiled = new WeakMap<object, (parameters: Parameters) => Statement>();
  async function query(db: Db, parameters: Parameters): Promise<Row[]> {
    const runner = runnerOf(db);
    let statementFor = compiled.get(runner.scope);
    if (!statementFor) {
      statementFor = compile(build, db, runner.claim);
      compiled.set(runner.scope, statementFor);
    }
    return runner.rows<Row>(statementFor(parameters));
  }
  return Object.assign(query, { isPrepared: true as const });
}

/**
 * Waits for queries of which none needs the result of another one. PostgreSQL gets them in one round trip, prepared ones in this order.
 * Other than with `Promise.all`, all have ended when one fails, so none of them runs after the rollback.
 *
 * @throws The failure of the first one in this order that fails.
 */
export async function together<T extends readonly unknown[] | []>(
  queries: T,
): Promise<{ -readonly [Index in keyof T]: Awaited<T[Index]> }> {
  await Promise.allSettled(queries);
  return Promise.all(queries);
}

interface LastQueries {
  readonly add: Transaction['atCommit'];
  discard(): void;
  readonly count: () => number;
  /**
   * Sends all before it returns.
   *
   * @returns A function that gives the rows to the callers, for after the commit.
   */
  run(db: Db): Promise<() => void>;
}

/** The queries of a transaction that run with its commit. They are prepared ones, because only those are sent as soon as they are called. */
export function lastQueries(): LastQueries {
  /** Each runs a query, and returns a function that gives the rows to the caller. */
  let waiting: ((db: Db) => Promise<() => void>)[] = [];
  return {
    add(query, parameters) {
      const { promise, resolve } = Promise.withResolvers<Awaited<ReturnType<typeof query>>>();
      waiting.push(async (db) => {
        const rows = await query(db, parameters);
        return () => resolve(rows);
      });
      return promise;
    },
    discard() {
      waiting = [];
    },
    count: () => waiting.length,
    async run(db) {
      const ended = await together(waiting.map((run) => run(db)));
      return () => {
        for (const resolve of ended) resolve();
      };
    },
  };
}

/**
 * A table expression with a row for each text: its `position` from 0, and its `value`. For a long list, this is faster than a list of
 * values in Kysely.
 */
export function tableOfTexts(db: Db, texts: readonly string[]): RawBuilder<unknown> {
  return runnerOf(db).textTable(JSON.stringify(texts));
}

function compile<Parameters extends object, Row>(
  build: Build<Parameters, Row>,
  db: Db,
  claim: Claim,
): (parameters: Parameters) => Statement {
  const names = new Map<unknown, keyof Parameters & string>();
  function parameter<Name extends keyof Parameters & string>(name: Name) {
    const marker = { name };
    names.set(marker, name);
    return sql<Parameters[Name]>`${marker}`;
  }
  const query = build(db, parameter, claim).compile();
  // Each is a parameter of the caller, or a value that the query fixes.
  const sources = query.parameters.map((value) => ({ named: names.get(value), value }));
  const name = `q${++compiledQueries}`;
  return (parameters) => ({
    name,
    text: query.sql,
    values: sources.map(({ named, value }) => (named === undefined ? value : parameters[named])),
  });
}
