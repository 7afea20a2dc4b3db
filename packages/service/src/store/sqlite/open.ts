import { accessSync, constants, mkdirSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Kysely, SqliteDialect } from 'kysely';

import { migrate } from '../migrate.ts';
import type { Schema } from '../schema.ts';
import { StoreOpenError } from '../store.ts';
import type { Store } from '../store.ts';
import { runDirectly } from '../prepared.ts';
import { directRunner, kyselyDatabase } from './database.ts';
import { groupCommit, unavailableOr } from './group-commit.ts';
import { createPrivateFile, makePrivate } from './private-files.ts';
import { sqliteSharing } from './sharing.ts';

const BUSY = 5;
const STORE_FILE = 'store.sqlite';
const LOCK_FILE = 'lock.sqlite';
/** What SQLite appends to the name of a database for the files next to it. */
const SUFFIXES = ['', '-wal', '-shm', '-journal'];

/**
 * Opens the embedded store in a directory, which is made when it is missing, and brings its tables up to date.
 *
 * @param directory Where the files are to be; one process at a time.
 * @throws StoreOpenError when the directory cannot be written to or another process has it.
 */
export async function openSqliteStore(directory: string): Promise<Store> {
  prepareDirectory(directory);
  const lock = lockDirectory(directory);
  const file = join(directory, STORE_FILE);
  createPrivateFile(file);
  const connection = new DatabaseSync(file);
  // NORMAL syncs at checkpoints alone, which keeps the file whole. Commits are synced below, off the event loop.
  connection.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON');
  // A checkpoint each 64 MiB of the log instead of each 4: it stops the writer, and the log is read back at a start anyway.
  connection.exec('PRAGMA wal_autocheckpoint = 16384; PRAGMA cache_size = -65536; PRAGMA temp_store = MEMORY');
  const db = kyselyOn(connection);
  await migrate(db, 'sqlite');
  const readConnection = new DatabaseSync(file, { readOnly: true });
  const readDb = kyselyOn(readConnection);
  const log = await open(`${file}-wal`, 'r+');
  const commit = groupCommit(connection, db, () => log.datasync());
  let closing: Promise<void> | undefined;
  async function close(): Promise<void> {
    await commit.idle();
    await log.close();
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

/** The query builder over a connection. */
export function kyselyOn(connection: DatabaseSync): Kysely<Schema> {
  const db = new Kysely<Schema>({ dialect: new SqliteDialect({ database: kyselyDatabase(connection) }) });
  runDirectly(db, directRunner(connection));
  return db;
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
  const path = join(directory, LOCK_FILE);
  try {
    createPrivateFile(path);
    // SQLite gives the files next to a database the mode of the database; these are of an older version.
    for (const name of [STORE_FILE, LOCK_FILE]) for (const suffix of SUFFIXES) makePrivate(join(directory, `${name}${suffix}`));
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
