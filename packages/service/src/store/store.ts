import type { Insertable, Kysely, RawBuilder, SelectQueryBuilder } from 'kysely';

import type { RequestLogTable, Schema } from './schema.ts';

/** The query builder of every engine. */
export type Db = Kysely<Schema>;

/** An entry of the request log before it has its number. */
export type LogEntry = Omit<Insertable<RequestLogTable>, 'number'>;

/** The inside of one unit of work. */
export interface Transaction {
  readonly db: Db;
  /**
   * Undoes what the unit wrote until now; it goes on with nothing done. Its log entries stay: a
   * refused request has no effect, and is logged.
   */
  undo(): Promise<void>;
  /** To be called when the unit itself has deleted or inserted entries of the request log: the next numbers are read anew. */
  readonly logRewritten: () => Promise<void>;
  /** Appends to the request log when the unit is committed. Entries are numbered 1, 2, 3, … for each account. */
  log(entry: LogEntry): void;
}

/** Counts events in stretches of time, over all nodes that share the store. A crash may lose the counts. */
export interface Windows {
  /**
   * Counts an event. The window begins with the first event that comes when none is running.
   *
   * @param name What is counted.
   * @param length Milliseconds of a window.
   * @returns How many events the running window has, this one included, and in how many milliseconds it ends.
   * @throws StoreUnavailableError when the store cannot be reached.
   */
  count(name: string, length: number): Promise<{ readonly count: number; readonly endsIn: number }>;
  /** Lets go of windows that have ended. */
  forget(): Promise<void>;
}

/** How those who are at work on a store at the same time stay out of each other's way. One implementation for each engine. */
export interface Sharing {
  /**
   * Whether other processes may be at work on the store. Where not, whoever opens it knows that
   * every earlier one is dead.
   */
  readonly severalNodes: boolean;
  /** Milliseconds by a clock that all who use the store have in common, in a query. */
  readonly now: RawBuilder<number>;
  /**
   * Locks the rows that a query returns until the transaction ends. Rows that another
   * transaction has locked are skipped or waited for.
   */
  claim<Database, Tables extends keyof Database & string, Row>(
    query: SelectQueryBuilder<Database, Tables, Row>,
    of: Tables,
    locked: 'skip' | 'wait',
  ): SelectQueryBuilder<Database, Tables, Row>;
  readonly windows: Windows;
  /** Waits until no other unit is writing to the tables, and has those that want to wait for the end of this one. */
  freeze(db: Db, tables: readonly string[]): Promise<void>;
}

/** Where the service keeps everything. One implementation for each engine. */
export interface Store {
  /** Reads a state that is committed. Nothing may be written. */
  read<T>(work: (db: Db) => Promise<T>): Promise<T>;
  /**
   * Runs a unit of work and resolves when it is durable, its log entries included. What it throws
   * undoes it whole and is thrown on. The work must wait for nothing but its own queries.
   *
   * @throws StoreUnavailableError when the store cannot keep it; nothing of it is kept then.
   */
  commit<T>(work: (transaction: Transaction) => Promise<T>): Promise<T>;
  readonly sharing: Sharing;
  /** Finishes what is under way and closes the files or connections; once, however often it is called. */
  close(): Promise<void>;
}

/** The store cannot be reached or cannot write; the request may be sent again later. */
export class StoreUnavailableError extends Error {
  override readonly name = 'StoreUnavailableError';
}

/** The store cannot be opened as it is configured; the message is one line for whoever starts the service. */
export class StoreOpenError extends Error {
  override readonly name = 'StoreOpenError';
}
