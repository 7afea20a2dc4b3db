/** Reads that return many rows, on their own connections, so that other work continues between the rows. */
import { DatabaseSync } from 'node:sqlite';

import { Kysely, SqliteAdapter, SqliteIntrospector } from 'kysely';
import type { CompiledQuery, Dialect, Driver, QueryResult } from 'kysely';

import { runDirectly } from '../prepared.ts';
import type { Runner } from '../prepared.ts';
import type { Schema } from '../schema.ts';
import type { Db } from '../store.ts';
import { tune } from '../tuning.ts';
import type { Tuning } from '../tuning.ts';
import { inTurns } from '../turns.ts';
import { directRunner, inputValue, QueryCompiler } from './database.ts';

export interface LongReads {
  /** Runs the work in a transaction that sees the committed data of one moment. */
  read<T>(work: (db: Db) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/** @param file The database. It is in WAL mode, so these reads block no transaction. */
export function longReads(file: string, tuning: Tuning): LongReads {
  const idle: Reader[] = [];
  const waiting: (() => void)[] = [];
  let inUse = 0;
  async function takeReader(): Promise<Reader> {
    if (inUse === tuning.longReads) await new Promise<void>((resolve) => waiting.push(resolve));
    inUse++;
    return idle.pop() ?? openReader(file);
  }
  function giveReaderBack(reader: Reader): void {
    idle.push(reader);
    inUse--;
    waiting.shift()?.();
  }
  return {
    async read(work) {
      const reader = await takeReader();
      try {
        return await reader.db.transaction().execute((transaction) => {
          tune(transaction, tuning);
          runDirectly(transaction, reader.runner);
          return work(transaction);
        });
      } finally {
        giveReaderBack(reader);
      }
    },
    close: async () => void (await Promise.all(idle.splice(0).map(({ db }) => db.destroy()))),
  };
}

interface Reader {
  readonly db: Kysely<Schema>;
  readonly runner: Runner;
}

function openReader(file: string): Reader {
  const connection = new DatabaseSync(file, { readOnly: true });
  return { db: new Kysely<Schema>({ dialect: readingDialect(connection) }), runner: directRunner(connection) };
}

function readingDialect(connection: DatabaseSync): Dialect {
  return {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => readingDriver(connection),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new QueryCompiler(),
  };
}

function readingDriver(connection: DatabaseSync): Driver {
  function executorOf(statement: string) {
    return async () => connection.exec(statement);
  }
  return {
    init: async () => {},
    acquireConnection: async () => ({
      executeQuery: (query) => readRows(connection, query),
      streamQuery: (query, chunkSize) => chunksOf(connection, query, chunkSize),
    }),
    releaseConnection: async () => {},
    beginTransaction: executorOf('BEGIN'),
    commitTransaction: executorOf('COMMIT'),
    rollbackTransaction: executorOf('ROLLBACK'),
    destroy: async () => connection.close(),
  };
}

async function readRows<Row>(connection: DatabaseSync, query: CompiledQuery): Promise<QueryResult<Row>> {
  const rows: Row[] = [];
  await inTurns(iterate<Row>(connection, query), (row) => void rows.push(row));
  return { rows };
}

/** The caller takes its turns between the rows. */
async function* chunksOf<Row>(connection: DatabaseSync, query: CompiledQuery, size: number): AsyncGenerator<QueryResult<Row>> {
  let rows: Row[] = [];
  for (const row of iterate<Row>(connection, query)) {
    rows.push(row);
    if (rows.length < size) continue;
    yield { rows };
    rows = [];
  }
  yield { rows };
}

function iterate<Row>(connection: DatabaseSync, { sql, parameters }: CompiledQuery): Iterable<Row> {
  const found: Iterable<unknown> = connection.prepare(sql).iterate(...parameters.map(inputValue));
  return found as Iterable<Row>;
}
