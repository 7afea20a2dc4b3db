/** One transaction, or one read, at a time. */
import { Kysely, PostgresAdapter, PostgresIntrospector } from 'kysely';
import type { CompiledQuery, DatabaseConnection, QueryResult } from 'kysely';
import type { PoolClient, QueryResult as DriverResult } from 'pg';

import { runDirectly, together } from '../prepared.ts';
import type { Schema } from '../schema.ts';
import type { Db } from '../store.ts';
import { tune } from '../tuning.ts';
import type { Tuning } from '../tuning.ts';
import { isAborted, isOutdatedPlan } from './errors.ts';
import type { Connections } from './failover.ts';
import { GATE } from './gate.ts';
import { QueryCompiler } from './query-compiler.ts';
import { claimRows, lockAdvisory, textTable } from './sharing.ts';

export interface Session {
  readonly db: Db;
  /** How many statements it has sent, in all its transactions and reads. */
  sentStatements(): number;
  /** Begins a transaction. The database learns of it with the first statement. */
  begin(): void;
  commit(): Promise<void>;
  /** Rolls back. The transaction continues. */
  rollBack(): Promise<void>;
  /** Ends a transaction or read that is still open, and returns its connection to the pool. */
  end(): Promise<void>;
}

/** The sessions of a store share it. */
export interface SharedBySessions {
  /** Identifies the store, see `Runner`. */
  readonly scope: object;
  readonly tuning: Tuning;
}

/** A transaction begins after a migration that waited for those before it. `lock table` takes no snapshot, so the isolation level can still be set. */
const BEGIN = `begin; lock table ${GATE} in access share mode`;

export function createSession(pool: Connections, { scope, tuning }: SharedBySessions): Session {
  let connecting: Promise<PoolClient> | undefined;
  let state: 'reading' | 'not begun' | 'begun' | 'committed' = 'reading';
  /** Of the present transaction. */
  let firstFailure: unknown;
  let sent = 0;

  /**
   * Sends a statement. It does not wait for those that were sent before.
   *
   * @param name The connection parses and plans statements with a name once. Their texts must not vary.
   */
  async function run(text: string, values: readonly unknown[] = [], name?: string): Promise<DriverResult> {
    const statement = { text, values: values.map(storable), ...(name !== undefined && { name }) };
    if (state === 'committed') throw new Error('A statement of a transaction was sent after its commit.');
    sent++;
    const isFirst = state === 'not begun';
    if (isFirst) {
      state = 'begun';
      firstFailure = undefined;
    }
    const client = await (connecting ??= pool.connect());
    sendTogether(client);
    try {
      const [, result] = await together([isFirst ? client.query(BEGIN) : undefined, client.query(statement)]);
      return result;
    } catch (error) {
      // The connections have prepared the statement for tables that have changed since.
      if (isOutdatedPlan(error)) pool.loseAll();
      // The database refuses all later statements of the transaction. Their errors do not say why.
      if (isAborted(error)) throw firstFailure ?? error;
      firstFailure ??= error;
      throw error;
    }
  }

  const db = builderOn(run, { scope, tuning, isReading: () => state === 'reading' });

  return {
    db,
    sentStatements: () => sent,
    begin() {
      state = 'not begun';
    },
    async commit() {
      if (state !== 'begun') return;
      const committing = run('commit');
      state = 'committed';
      const { command } = await committing.catch((error: unknown) => {
        state = 'begun';
        throw error;
      });
      // After an error that the work has caught, the database rolls back instead.
      if (command !== 'COMMIT') throw new Error('The database rolled back a transaction instead of committing it.');
    },
    async rollBack() {
      if (state === 'begun') await run('rollback');
      state = 'not begun';
    },
    async end() {
      // A connection that cannot roll back is broken, and is closed.
      const isBroken = state === 'begun' && (await hasFailed(run('rollback')));
      state = 'reading';
      const client = await connecting?.catch(() => undefined);
      connecting = undefined;
      client?.release(isBroken);
    },
  };
}

/**
 * Sends the statements of one turn of the event loop with one system call. With one for each statement, these calls took almost half of the CPU
 * time of a purchase.
 */
function sendTogether({ connection: { stream } }: PoolClient): void {
  stream.cork();
  process.nextTick(() => stream.uncork());
}

function hasFailed(work: Promise<unknown>): Promise<boolean> {
  return work.then(
    () => false,
    () => true,
  );
}

type SendStatement = (text: string, values?: readonly unknown[], name?: string) => Promise<DriverResult>;

/** The query builder on a session. */
function builderOn(run: SendStatement, { scope, tuning, isReading }: SharedBySessions & { isReading(): boolean }): Db {
  const db = kyselyOn(connectionOf(run, isReading));
  tune(db, tuning);
  runDirectly(db, {
    scope,
    claim: claimRows,
    textTable,
    lock: lockAdvisory,
    rows: async ({ name, text, values }) => (await run(text, values, name)).rows,
  });
  return db;
}

/** A connection as Kysely sees it. */
function connectionOf(run: SendStatement, isReading: () => boolean): DatabaseConnection {
  return {
    async executeQuery<Row>({ sql, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
      const { rows, rowCount } = await run(sql, parameters);
      return { rows, numAffectedRows: BigInt(rowCount ?? 0) };
    },
    streamQuery<Row>({ sql, parameters }: CompiledQuery, chunkSize: number) {
      if (isReading()) throw new Error('Rows are streamed in a transaction only. Use readLong.');
      return chunksOf<Row>(run, { text: `declare streamed no scroll cursor for ${sql}`, values: parameters }, chunkSize);
    },
  };
}

/** Reads the rows of a cursor. */
async function* chunksOf<Row>(
  run: SendStatement,
  declaration: { readonly text: string; readonly values: readonly unknown[] },
  size: number,
): AsyncGenerator<QueryResult<Row>> {
  await run(declaration.text, declaration.values);
  let rows: Row[];
  do {
    ({ rows } = await run(`fetch ${size} from streamed`));
    yield { rows };
  } while (rows.length === size);
  await run('close streamed');
}

/** The values that both engines store in the same way. */
function storable(value: unknown): unknown {
  if (value !== undefined && (typeof value !== 'number' || Number.isSafeInteger(value))) return value;
  throw new TypeError(
    `A query parameter is ${value === undefined ? 'undefined' : `the number ${value}`}; only text, bytes, null and integers up to 2^53 are stored.`,
  );
}

function kyselyOn(connection: DatabaseConnection): Kysely<Schema> {
  async function refuseTransaction(): Promise<void> {
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
        beginTransaction: refuseTransaction,
        commitTransaction: refuseTransaction,
        rollbackTransaction: refuseTransaction,
        releaseConnection: async () => {},
        destroy: async () => {},
      }),
    },
  });
}
