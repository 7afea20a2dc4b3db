import type { Insertable, Kysely } from 'kysely';

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
