/** One transaction, or one read, at a time. */
import { Kysely, PostgresAdapter, PostgresIntrospector } from 'kysely';
import type { CompiledQuery, DatabaseConnection, QueryResult } from 'kysely';
import type { PoolClient } from 'pg';

import { sha256 } from '../../rules/credentials.ts';
import { known, runDirectly } from '../prepared.ts';
import type { Contention, Statement } from '../prepared.ts';
import type { Schema } from '../schema.ts';
import type { AfterCommit, Db } from '../store.ts';
import { tune } from '../tuning.ts';
import type { Tuning } from '../tuning.ts';
import { serverOf } from './connections.ts';
import { AssumptionError, isOutdatedPlan } from './errors.ts';
import type { Connections } from './failover.ts';
import { Pipeline } from './pipeline.ts';
import type { Result } from './pipeline.ts';
import { QueryCompiler } from './query-compiler.ts';
import type { SharedConnections } from './shared-connections.ts';
import type { ShareRead } from './shared-reads.ts';
import { claimRows, textTable } from './sharing.ts';

/** How a transaction runs. */
export interface Attempt {
  readonly isOptimistic: boolean;
  readonly waitsForRows: boolean;
}

export interface Session {
  readonly db: Db;
  /**
   * Begins a transaction. The database learns of it with the first statement.
   *
   * @param attempt.isOptimistic Whether expected results are assumed.
   * @param attempt.waitsForRows Whether an earlier attempt has thrown a RowsTakenError.
   */
  begin(attempt: Attempt): void;
  /**
   * Sends the waiting statements and the commit in one message.
   *
   * @returns The server that has committed. Undefined if the transaction had no statements.
   */
  commit(): Promise<string | undefined>;
  /**
   * Discards the waiting statements and rolls back. The transaction continues.
   *
   * @throws AssumptionError if there are assumptions, because the work may have used wrong results.
   */
  rollBack(): Promise<void>;
  /** Whether the work has assumed results that the database has not confirmed yet. */
  isAssuming(): boolean;
  /** Ends a transaction or read that is still open, and returns its connection to the pool. */
  end(): Promise<void>;
}

/** A statement that is sent with the next one that returns something, or with the commit. */
interface Waiting {
  readonly statement: Statement;
  readonly isContended: boolean;
  readonly isAssumed: boolean;
  settle(result: Result): void;
}

const READING: Attempt = { isOptimistic: false, waitsForRows: false };
const BEGIN: Statement = { text: 'begin', values: [] };
const COMMIT: Statement = { text: 'commit', values: [] };
const ROLLBACK: Statement = { text: 'rollback', values: [] };

/** The sessions of a store share it. */
export interface SharedBySessions {
  /** Identifies the store, see `Runner`. */
  readonly scope: object;
  readonly tuning: Tuning;
  readonly shareRead: ShareRead;
  readonly connections: SharedConnections;
}

export function createSession(pool: Connections, { scope, tuning, shareRead, connections }: SharedBySessions): Session {
  let connecting: Promise<PoolClient> | undefined;
  let state: 'reading' | 'not begun' | 'begun' = 'reading';
  let attempt: Attempt = READING;
  let waiting: Waiting[] = [];
  let sending: Promise<Result[]> | undefined;

  function send(statements: readonly Statement[]): Promise<Result[]> {
    if (sending) throw new Error('A transaction or read sent a statement before the result of the last one. Await each statement.');
    sending = resultsOf(statements).finally(() => {
      sending = undefined;
    });
    return sending;
  }

  async function resultsOf(statements: readonly Statement[]): Promise<Result[]> {
    const pipeline = new Pipeline(statements);
    const client = await (connecting ??= pool.connect());
    client.query(pipeline);
    return pipeline.results;
  }

  /** The waiting statements, in the order in which they are sent. */
  function takeWaiting(): readonly Waiting[] {
    const batch = [...waiting.filter(({ isContended }) => !isContended), ...waiting.filter(({ isContended }) => isContended)];
    waiting = [];
    return batch;
  }

  /** Sends the waiting statements, then the given one. Returns the result of the latter. */
  async function sendAll(last: Statement): Promise<Result | undefined> {
    const batch = takeWaiting();
    const results = await send([...batch.map(({ statement }) => statement), last]);
    settleAll(batch, results);
    return results[batch.length];
  }

  /**
   * Commits the waiting statements. They need no BEGIN and COMMIT, because the statements of one message are a transaction. A transaction
   * that has sent nothing before uses a shared connection.
   */
  async function commitWaiting(): Promise<string | undefined> {
    const batch = takeWaiting();
    const statements = batch.map(({ statement }) => statement);
    const committing = connecting || batch.length === 0 ? undefined : connections.send(statements);
    if (committing) {
      const { results, server } = await committing;
      settleAll(batch, results);
      return server;
    }
    if (batch.length > 0) settleAll(batch, await send(statements));
    return serverUsed();
  }

  async function serverUsed(): Promise<string | undefined> {
    return connecting ? serverOf(await connecting) : undefined;
  }

  async function run(statement: Statement): Promise<Result> {
    if (state === 'not begun') {
      state = 'begun';
      waiting.unshift({ statement: BEGIN, isContended: false, isAssumed: false, settle: () => {} });
    }
    const result = await sendAll(statement).catch((error: unknown) => {
      if (state !== 'reading' || !isOutdatedPlan(error)) throw error;
      // A transaction runs again as a whole.
      return send([statement]).then(([again]) => again);
    });
    if (!result) throw new Error('The database returned no result.');
    return result;
  }

  function assume<Row>(
    statement: Statement,
    count: number,
    { isContended, returnsRows }: Contention & { returnsRows: boolean },
  ): AfterCommit<readonly Row[]> {
    let result: Result | undefined;
    function settle(given: Result) {
      result = given;
    }
    waiting.push({ statement: asserting(statement, count, returnsRows), isContended, isAssumed: true, settle });
    return () => {
      if (!result) throw new Error('The rows of a statement were read before its transaction had committed.');
      return rowsOf(result);
    };
  }

  function isAssuming(): boolean {
    return waiting.some(({ isAssumed }) => isAssumed);
  }

  /** A connection that cannot roll back is broken, and is closed. */
  function hasRolledBack(): Promise<boolean> {
    return send([ROLLBACK]).then(
      () => true,
      () => false,
    );
  }

  const connection: DatabaseConnection = {
    async executeQuery<Row>({ sql, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
      const result = await run({ text: sql, values: parameters });
      return { rows: rowsOf(result), numAffectedRows: BigInt(result.count) };
    },
    async *streamQuery<Row>({ sql, parameters }: CompiledQuery, chunkSize: number): AsyncGenerator<QueryResult<Row>> {
      if (state === 'reading') throw new Error('Rows are streamed in a transaction only. Use readLong.');
      // The server prepares the FETCH for the columns of this query, so no other query may have its text.
      const cursor = `rows_${sha256(sql)}`;
      await run({ text: `declare ${cursor} no scroll cursor for ${sql}`, values: parameters });
      let rows: Row[];
      do {
        rows = rowsOf(await run({ text: `fetch ${chunkSize} from ${cursor}`, values: [] }));
        yield { rows };
      } while (rows.length === chunkSize);
      await run({ text: `close ${cursor}`, values: [] });
    },
  };
  const db = kyselyOn(connection);
  tune(db, tuning);
  runDirectly(db, {
    scope,
    claim: claimRows,
    textTable,
    waitsForRows: () => attempt.waitsForRows,
    rows: async (statement) => rowsOf(await run(statement)),
    async defer(statement) {
      if (state === 'reading') await run(statement);
      else waiting.push({ statement, isContended: false, isAssumed: false, settle: () => {} });
    },
    async changesOne(statement, contention) {
      if (attempt.isOptimistic) {
        assume(statement, 1, { ...contention, returnsRows: false });
        return true;
      }
      const { text, values } = statement;
      if (state === 'reading') return (await shareRead(`${text} ${values.join('\0')}`, async () => (await run(statement)).count)) === 1;
      return (await run(statement)).count === 1;
    },
    async laterRows<Row>(statement: Statement, count: number) {
      if (attempt.isOptimistic) return assume<Row>(statement, count, { isContended: false, returnsRows: true });
      return known<Row>(rowsOf(await run(statement)), count);
    },
  });

  return {
    db,
    begin(given) {
      state = 'not begun';
      attempt = given;
    },
    async commit() {
      if (state !== 'begun') return commitWaiting();
      const result = await sendAll(COMMIT);
      state = 'not begun';
      // After an error that the work has caught, the database rolls back instead.
      if (result?.tag !== 'COMMIT') throw new Error('The database rolled back a transaction instead of committing it.');
      return serverUsed();
    },
    async rollBack() {
      if (isAssuming()) throw new AssumptionError();
      waiting = [];
      if (state === 'begun') await send([ROLLBACK]);
      state = 'not begun';
    },
    isAssuming,
    async end() {
      await sending?.catch(() => undefined);
      waiting = [];
      attempt = READING;
      const isOpen = state === 'begun' && !(await hasRolledBack());
      state = 'reading';
      const client = await connecting?.catch(() => undefined);
      connecting = undefined;
      client?.release(isOpen);
    },
  };
}

function settleAll(batch: readonly Waiting[], results: readonly Result[]): void {
  for (const [index, { settle }] of batch.entries()) {
    const result = results[index];
    if (result) settle(result);
  }
}

function rowsOf({ rows }: Result) {
  return Array.from(rows, (row) => Object(row));
}

const asserted = new Map<string, string>();

/**
 * Makes a statement fail unless it changes or returns the expected number of rows. The failure rolls back the statements around it.
 *
 * @param returnsRows Without the rows, the check takes less time.
 */
function asserting({ text, values }: Statement, count: number, returnsRows: boolean): Statement {
  const key = `${returnsRows} ${text}`;
  let wrapped = asserted.get(key);
  if (wrapped === undefined) {
    const returning = /^\s*select\b|\breturning\b/i.test(text) ? text : `${text} returning 1 as changed`;
    const check = `select assert_rows((select count(*) from changed), $${values.length + 1})`;
    wrapped = `with changed as (${returning}) ${returnsRows ? `select changed.* from (${check}) as asserted left join changed on true` : check}`;
    asserted.set(key, wrapped);
  }
  return { text: wrapped, values: [...values, count] };
}

function kyselyOn(connection: DatabaseConnection): Kysely<Schema> {
  async function unsupported(): Promise<void> {
    throw new Error('Transactions are begun by the store.');
  }
  return new Kysely<Schema>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createIntrospector: (db) => new PostgresIntrospector(db),
      createQueryCompiler: () => new QueryCompiler(),
      createDriver: () => ({
        init: async () => {},
        acquireConnection: async () => connection,
        beginTransaction: unsupported,
        commitTransaction: unsupported,
        rollbackTransaction: unsupported,
        releaseConnection: async () => {},
        destroy: async () => {},
      }),
    },
  });
}
