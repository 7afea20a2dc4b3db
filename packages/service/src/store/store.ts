import type { Kysely, RawBuilder, SelectQueryBuilder } from 'kysely';

import type { LogEntry } from './log-row.ts';
import type { PreparedQuery } from './prepared.ts';
import type { Schema } from './schema.ts';
import type { Tuning } from './tuning.ts';

export type Engine = 'sqlite' | 'postgres';

/** The query builder, the same for every engine. */
export type Db = Kysely<Schema>;

/** A transaction, as the work in it sees it. */
export interface Transaction {
  readonly db: Db;
  /** Rolls back the changes so far. The work continues, and its log entries stay, because a refused request is logged too. */
  rollBack(): Promise<void>;
  /** Appends to the request log at the commit. */
  log(entry: LogEntry): void;
  /**
   * Runs a query last, in the round trip of the commit. A rollback discards it.
   *
   * @returns The rows, after the commit. So the work must not wait for them. The promise stays pending if the transaction fails.
   */
  atCommit<Parameters, Row>(query: PreparedQuery<Parameters, Row>, parameters: Parameters): Promise<Row[]>;
}

/** The request log. One implementation for each engine. */
export interface RequestLog {
  /**
   * Appends the entry of a request that changes nothing else, and resolves when it is durable. Entries that arrive together share a commit.
   *
   * @throws StoreUnavailableError if the store cannot commit.
   */
  append(entry: LogEntry): Promise<void>;
  /** Numbers the account's entries that are committed, so that queries of `request_log` find them. SQLite numbers entries as it commits them. */
  number(transaction: Db, accountId: string): Promise<void>;
  /** Numbers committed entries of all accounts, in small transactions. */
  numberAll(): Promise<void>;
  /** Prepares the table for rows of these months that the transaction inserts itself. */
  prepareMonths(transaction: Db, months: readonly number[]): Promise<void>;
  /** Deletes the entries of older months that the engine stores separately. The others remain. */
  deleteMonthsBefore(month: number): Promise<void>;
  /** The highest `feed` such that every entry up to it can be read, and every later one will be higher. */
  feedEnd(): Promise<number>;
  /** Bytes of the whole store on the disk. */
  storeSize(): Promise<number>;
}

/** The kinds of counters. Counters of different kinds are independent. */
export type CounterKind = 'guesses of a key' | 'guesses of a token' | 'refused operations';

/** Counts events in time windows, across all instances that share the store. A crash may lose the counts. */
export interface Windows {
  /**
   * Counts an event. The first event outside a window opens the next one.
   *
   * @param kind The kind of the counter.
   * @param name The counter, unique in its kind.
   * @param length Length of a window in milliseconds.
   * @returns The number of events in the window, including this one, and the milliseconds until the window ends.
   * @throws StoreUnavailableError if the store cannot be reached.
   */
  count(kind: CounterKind, name: string, length: number): Promise<{ readonly count: number; readonly endsIn: number }>;
  /**
   * Takes an event from a rate, if it allows one now. The rate allows `events` at once after a pause, and then one for each part of its
   * length, so that no moment allows two bursts in a row (generic cell rate algorithm).
   *
   * @param name The rate, unique among the rates.
   * @throws StoreUnavailableError if the store cannot be reached.
   */
  take(name: string, rate: Rate): Promise<Taken>;
  /** Deletes windows that have ended. */
  deleteExpired(): Promise<void>;
}

/** A number of events in a time. */
export interface Rate {
  readonly events: number;
  /** Milliseconds. */
  readonly length: number;
}

export interface Taken {
  readonly isAllowed: boolean;
  /** Milliseconds until the rate allows all its events at once again. */
  readonly fullIn: number;
}

/** Whether a query skips rows that another transaction has locked, or waits for them. */
export type LockedRows = 'skip' | 'wait';

/**
 * Makes a query lock its rows of a table until the transaction ends.
 *
 * @param of The table whose rows are locked.
 * @param locked Whether the query skips rows that another transaction has locked, or waits for them.
 */
export type Claim = <Database, Tables extends keyof Database & string, Row>(
  query: SelectQueryBuilder<Database, Tables, Row>,
  of: Tables,
  locked: LockedRows,
) => SelectQueryBuilder<Database, Tables, Row>;

/** A table expression with a row for each text of a JSON list: its `position` from 0, and its `value`. */
export type TextTable = (list: string) => RawBuilder<unknown>;

/**
 * Waits for the other transactions that have locked the same name, and locks it until this one ends. Default: alone. Transactions that
 * share a lock do not wait for each other.
 */
export type Lock = (db: Db, name: string, mode?: 'alone' | 'shared') => Promise<void>;

/** How transactions and instances that use a store at the same time coordinate. One implementation for each engine. */
export interface Sharing {
  /** Whether several instances may use the store at the same time. If not, every earlier process is dead once the store is open. */
  readonly hasInstances: boolean;
  /** A query expression: milliseconds by a clock that all instances share. */
  readonly now: RawBuilder<number>;
  readonly claim: Claim;
  readonly lock: Lock;
  readonly windows: Windows;
  /** Locks the tables and the request log against writes of other transactions until this one ends, and numbers all entries of the log. */
  freeze(db: Db, tables: readonly string[]): Promise<void>;
}

/**
 * Inserts rows from a text, which takes a fraction of the time that a parameter for each value takes.
 *
 * @param rows A JSON array of objects whose keys are the columns.
 */
export type InsertRows = (db: Db, table: string, columns: readonly string[], rows: string) => Promise<void>;

export interface CommitOptions {
  /** Whether the transaction completes earlier work, such as a delivery. It overtakes new work when the store is busy. */
  readonly isUrgent?: boolean;
}

/** Connections of an instance to its database. */
export interface PoolFigures {
  /** Callers that use a connection. Some share one. */
  readonly inUse: number;
  /** Callers that wait for a connection. */
  readonly waiting: number;
  /** Callers that may use connections at the same time. There are at most as many connections. */
  readonly max: number;
}

/** All stored data of the service. One implementation for each engine. */
export interface Store {
  /** Reads committed data. The work must not write. */
  read<T>(work: (db: Db) => Promise<T>, options?: CommitOptions): Promise<T>;
  /**
   * Like `read`, for work that reads many rows. Its queries can be streamed, other work continues between the rows, and all of them see the
   * data of one moment.
   */
  readLong<T>(work: (db: Db) => Promise<T>): Promise<T>;
  /**
   * Runs a transaction, and resolves when its changes and log entries are durable. If the work throws, the transaction is rolled back and
   * the error is rethrown. The work may await its own queries only. It may run several times, so it must have no effects outside the
   * transaction.
   *
   * @throws StoreBusyError if too much work is waiting. In that case, the work has not begun.
   * @throws StoreUnavailableError if the store cannot commit. In that case, no change of the transaction is kept.
   */
  commit<T>(work: (transaction: Transaction) => Promise<T>, options?: CommitOptions): Promise<T>;
  /** The sizes, limits and times with which it was opened. */
  readonly tuning: Tuning;
  readonly insertRows: InsertRows;
  readonly sharing: Sharing;
  readonly requestLog: RequestLog;
  /** Undefined for a store without connections. */
  readonly pool?: () => PoolFigures;
  /** The free part of the disk, from 0 to 1. Omitted by stores on a database server, which watches its own. */
  readonly freeDisk?: () => Promise<number>;
  /** Waits for running transactions and closes the files or connections. Further calls have no effect. */
  close(): Promise<void>;
}

/** The store cannot be reached or cannot write. The caller may retry later. */
export class StoreUnavailableError extends Error {
  override readonly name = 'StoreUnavailableError';
}

/** More work is waiting than the store can do in time. The caller may retry later. */
export class StoreBusyError extends Error {
  override readonly name = 'StoreBusyError';
}

/** The store cannot be opened as configured. The message is one line for the operator. */
export class StoreOpenError extends Error {
  override readonly name: string = 'StoreOpenError';
}

/** The database cannot be reached. It may only start later than the service. */
export class StoreUnreachableError extends StoreOpenError {
  override readonly name = 'StoreUnreachableError';
}
