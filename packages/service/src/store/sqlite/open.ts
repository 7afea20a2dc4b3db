import { accessSync, constants, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Kysely, SqliteDialect } from 'kysely';

import { migrate } from '../migrate.ts';
import type { Schema } from '../schema.ts';
import { StoreOpenError } from '../store.ts';
import type { Store } from '../store.ts';
import { kyselyDatabase } from './database.ts';
import { groupCommit, unavailableOr } from './group-commit.ts';
import { sqliteSharing } from './sharing.ts';

const BUSY = 5;

/**
 * Opens the embedded store in a directory, which is made when it is missing, and brings its tables up to date.
 *
 * @param directory Where the files are to be; one process at a time.
 * @throws StoreOpenError when the directory cannot be written to or another process has it.
 */
export async function openSqliteStore(directory: string): Promise<Store> {
  prepareDirectory(directory);
  const lock = lockDirectory(directory);
  const file = join(directory, 'store.sqlite');
  const connection = new DatabaseSync(file);
  connection.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON');
  // A checkpoint each 64 MiB of the log instead of each 4: it stops the writer, and the log is read back at a start anyway.
  connection.exec('PRAGMA wal_autocheckpoint = 16384; PRAGMA cache_size = -65536');
  const db = kyselyOn(connection);
  await migrate(db, 'sqlite');
  const readConnection = new DatabaseSync(file, { readOnly: true });
  const readDb = kyselyOn(readConnection);
  const commit = groupCommit(connection, db);
  let closing: Promise<void> | undefined;
  async function close(): Promise<void> {
    await commit.idle();
    readConnection.close();
    connection.close();
    lock.close();
  }
  return {
    async read(work) {
      try {
        return await work(readDb);
      } catch (error) {
        throw unavailableOr(error);
      }
    },
    commit,
    sharing: sqliteSharing(),
    close: () => (closing ??= close()),
  };
}

function kyselyOn(connection: DatabaseSync): Kysely<Schema> {
  return new Kysely<Schema>({ dialect: new SqliteDialect({ database: kyselyDatabase(connection) }) });
}

function prepareDirectory(directory: string): void {
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    accessSync(directory, constants.W_OK | constants.X_OK);
  } catch (error) {
    throw new StoreOpenError(
      `The data directory ${directory} cannot be written to (${error instanceof Error ? error.message : String(error)}). Make it writable, or name another one.`,
      { cause: error },
    );
  }
}

/**
 * A file of its own that is kept locked: the operating system lets go of it when the process
 * ends, however it ends, so no stale lock is ever left.
 */
export function lockDirectory(directory: string): DatabaseSync {
  const path = join(directory, 'lock.sqlite');
  try {
    const lock = new DatabaseSync(path);
    lock.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT');
    return lock;
  } catch (error) {
    if (error instanceof Error && 'errcode' in error && error.errcode === BUSY) {
      throw new StoreOpenError(
        `The data directory ${directory} is in use by another process. Stop that process, or name another directory.`,
        { cause: error },
      );
    }
    throw new StoreOpenError(
      `The data directory ${directory} cannot be used (${error instanceof Error ? error.message : String(error)}). Make it writable, or name another one.`,
      { cause: error },
    );
  }
}
