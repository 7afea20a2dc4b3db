import type { Kysely } from 'kysely';

import type { Schema } from './schema.ts';

/** The query builder of every engine. */
export type Db = Kysely<Schema>;

/** The inside of one unit of work. */
export interface Transaction {
  readonly db: Db;
  /**
   * Runs a part of the work that may be undone alone: when it throws, what it wrote is undone,
   * the error is thrown on, and the unit goes on.
   */
  attempt<T>(part: () => Promise<T>): Promise<T>;
}

/** Where the service keeps everything. One implementation for each engine. */
export interface Store {
  /** Reads a state that is committed. Nothing may be written. */
  read<T>(work: (db: Db) => Promise<T>): Promise<T>;
  /**
   * Runs a unit of work and resolves when it is durable. What it throws undoes it whole and is
   * thrown on. The work must wait for nothing but its own queries.
   *
   * @throws StoreUnavailableError when the store cannot keep it; nothing of it is kept then.
   */
  commit<T>(work: (transaction: Transaction) => Promise<T>): Promise<T>;
  /** Finishes what is under way and closes the files or connections. */
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
