import { accessSync, constants, existsSync, statSync } from 'node:fs';
import type { BigIntStats } from 'node:fs';
import { open, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

import { errorText, isError } from '@reseller/contract/is-error';
import { Kysely, sql } from 'kysely';

import { migrate } from '../migrate.ts';
import type { RunMigration } from '../migrate.ts';
import { runDirectly } from '../prepared.ts';
import type { Schema } from '../schema.ts';
import { StoreOpenError, StoreUnavailableError } from '../store.ts';
import type { Store } from '../store.ts';
import { DEFAULT_TUNING, tune } from '../tuning.ts';
import type { Tuning } from '../tuning.ts';
import { createCheckpointer, startCheckpointThread } from './checkpointer.ts';
import { ConnectionDialect, directRunner } from './database.ts';
import { GroupCommit, unavailableOr } from './group-commit.ts';
import { insertRows } from './insert-rows.ts';
import { longReads } from './long-reads.ts';
import { assertComplete, markClosed, markOpen } from './open-mark.ts';
import { createPrivateFile, makePrivate, makePrivateDirectory } from './private-files.ts';
import { sqliteSharing } from './sharing.ts';

const BUSY = 5;
/** The result codes of a damaged file: SQLITE_CORRUPT and SQLITE_NOTADB. */
const DAMAGED: ReadonlySet<number> = new Set([11, 26]);
export const STORE_FILE = 'store.sqlite';
const LOCK_FILE = 'lock.sqlite';
/** SQLite appends these to the name of a database for the files next to it. */
const SUFFIXES = ['', '-wal', '-shm', '-journal'];

export interface SqliteStoreOptions {
  readonly onFailedSync?: (error: StoreUnavailableError) => void;
  /** Replaces defaults. */
  readonly tuning?: Partial<Tuning>;
}

/**
 * Opens the embedded store in a directory and brings its tables up to date. Creates the directory if it is missing.
 *
 * @param directory The directory of the files. One process at a time can use it.
 * @param options.onFailedSync Called when the disk has not confirmed a write, or when a file of the store was removed or replaced. The store
 *   refuses all further transactions then, so the process should end.
 * @throws StoreOpenError if the directory cannot be written to, another process uses it, its files are damaged or incomplete, or another
 * version created the tables.
 */
export async function openSqliteStore(directory: string, { onFailedSync = () => {}, ...options }: SqliteStoreOptions = {}): Promise<Store> {
  const tuning = { ...DEFAULT_TUNING, ...options.tuning };
  prepareDirectory(directory);
  const file = join(directory, STORE_FILE);
  const { lock, connection, db } = await openConnection(directory, file, tuning);
  const readConnection = new DatabaseSync(file, { readOnly: true });
  const log = await open(`${file}-wal`, 'r+');
  const checkpointer = createCheckpointer(connection, tuning, () => startCheckpointThread(file));
  const replacedFile = watchFiles([file, `${file}-wal`]);
  async function sync(): Promise<void> {
    const replaced = replacedFile();
    if (replaced !== undefined) throw new FileReplacedError(replaced);
    await log.datasync();
  }
  const writer = new GroupCommit(connection, db, { sync, makeRoom: checkpointer.makeRoom, onFailedSync });
  const commit: Store['commit'] = (work) => writer.commit(work);
  const readDb = kyselyOn(readConnection, tuning);
  const long = longReads(file, tuning);
  let closing: Promise<void> | undefined;
  async function close(): Promise<void> {
    await writer.idle();
    await checkpointer.close();
    await log.close();
    await long.close();
    readConnection.close();
    connection.close();
    // SQLite removes the log when everything is in the store.
    if (!existsSync(`${file}-wal`)) markClosed(directory);
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
    async readLong(work) {
      try {
        return await long.read(work);
      } catch (error) {
        throw unavailableOr(error);
      }
    },
    commit,
    tuning,
    insertRows,
    sharing: sqliteSharing(),
    requestLog: {
      append: (entry) => writer.appendToLog(entry),
      number: async () => {},
      numberAll: async () => {},
      prepareMonths: async () => {},
      deleteMonthsBefore: (month) => deleteMonths(commit, month, tuning.cleanUpBatch),
      // One connection writes, so entries can be read in the order of their places.
      feedEnd: async () => Number.MAX_SAFE_INTEGER,
      storeSize: async () => usedBytesOf(readConnection),
    },
    async freeDisk() {
      const { bavail, blocks } = await statfs(directory);
      return bavail / blocks;
    },
    close: () => (closing ??= close()),
  };
}

/** The connection that writes, with the lock of its directory. */
async function openConnection(
  directory: string,
  file: string,
  tuning: Tuning,
): Promise<{ readonly lock: DatabaseSync; readonly connection: DatabaseSync; readonly db: Kysely<Schema> }> {
  const lock = lockDirectory(directory);
  try {
    assertComplete(directory, file);
  } catch (error) {
    lock.close();
    throw error;
  }
  createPrivateFile(file);
  const connection = new DatabaseSync(file);
  const db = kyselyOn(connection, tuning);
  try {
    // NORMAL syncs at checkpoints only, which keeps the file consistent. Commits are synced by the store, without blocking the event loop.
    connection.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON');
    // 16 MiB of pages, which hold the indexes that purchases change. Other pages come from the cache of the operating system.
    connection.exec('PRAGMA cache_size = -16384; PRAGMA temp_store = MEMORY');
    await migrate(db, 'sqlite', atomically(connection));
    markOpen(directory, connection);
    return { lock, connection, db };
  } catch (error) {
    connection.close();
    lock.close();
    throw damageOr(error, directory);
  }
}

/** The explanation of a damaged file, or the error itself. */
export function damageOr(error: unknown, directory: string): unknown {
  if (!(isError(error) && 'errcode' in error && typeof error.errcode === 'number' && DAMAGED.has(error.errcode & 0xff))) return error;
  return new StoreOpenError(
    `The store in ${directory} is damaged (${error.message}). Keep a copy of the directory, and restore the newest backup into another one. Without a backup, the command .recover of the SQLite shell saves what can be read.`,
    { cause: error },
  );
}

/** A file of the store was removed or replaced by another one. Later transactions are in no file that can be opened. */
class FileReplacedError extends StoreUnavailableError {
  constructor(file: string) {
    super(
      `The file ${file} was removed or replaced while the service used it, so nothing more can be stored. Stop the service before you move or restore its store, then start it again.`,
    );
  }
}

/** @returns A function that says which file of an open store was removed or replaced. Undefined if none was. */
function watchFiles(files: readonly string[]): () => string | undefined {
  const identities = files.map((file) => identityOf(statOf(file)));
  return () => files.find((file, index) => identityOf(statOf(file)) !== identities[index]);
}

function statOf(file: string): BigIntStats | undefined {
  return statSync(file, { bigint: true, throwIfNoEntry: false });
}

function identityOf(stats: BigIntStats | undefined): string {
  return stats === undefined ? '' : `${stats.dev}/${stats.ino}`;
}

/** Entries are inserted in the order of their dates, so the oldest are found without an index on the month. */
async function deleteMonths(commit: Store['commit'], before: number, batchSize: number): Promise<void> {
  let deleted: bigint | undefined;
  do {
    const { numAffectedRows } = await commit(({ db }) =>
      sql`
        delete from request_log where rowid in (
          select rowid from (select rowid, month from request_log order by rowid limit ${batchSize}) where month < ${before}
        )`.execute(db),
    );
    deleted = numAffectedRows;
  } while (deleted === BigInt(batchSize));
}

/** Bytes of the pages that are in use. The file keeps free pages for later. */
function usedBytesOf(connection: DatabaseSync): number {
  function value(pragma: string) {
    return Number(Object.values(connection.prepare(`PRAGMA ${pragma}`).get() ?? {})[0]);
  }
  return (value('page_count') - value('freelist_count')) * value('page_size');
}

/** Runs each migration in a transaction, which Kysely does not do on SQLite, so that a crash never leaves a part of one. */
export function atomically(connection: DatabaseSync): RunMigration {
  return async (migration) => {
    connection.exec('BEGIN IMMEDIATE');
    try {
      await migration();
      connection.exec('COMMIT');
    } catch (error) {
      // If the disk is full, SQLite itself rolls back.
      if (connection.isTransaction) connection.exec('ROLLBACK');
      throw error;
    }
  };
}

/** The query builder over a connection. */
export function kyselyOn(connection: DatabaseSync, tuning: Tuning = DEFAULT_TUNING): Kysely<Schema> {
  const db = new Kysely<Schema>({ dialect: new ConnectionDialect(connection, tuning) });
  tune(db, tuning);
  runDirectly(db, directRunner(connection));
  return db;
}

function prepareDirectory(directory: string): void {
  try {
    makePrivateDirectory(directory);
    accessSync(directory, constants.W_OK | constants.X_OK);
  } catch (error) {
    throw new StoreOpenError(
      `The data directory ${directory} cannot be written to (${errorText(error)}). Make it writable, or name another one.`,
      { cause: error },
    );
  }
}

/**
 * Locks a separate file. The operating system releases the lock when the process ends, even after a crash, so a lock is never stale.
 */
export function lockDirectory(directory: string): DatabaseSync {
  const path = join(directory, LOCK_FILE);
  try {
    createPrivateFile(path);
    // SQLite copies the mode of a database to the files next to it. The files of a copied store may have other modes.
    for (const name of [STORE_FILE, LOCK_FILE]) for (const suffix of SUFFIXES) makePrivate(join(directory, `${name}${suffix}`));
    const lock = new DatabaseSync(path);
    lock.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; COMMIT');
    return lock;
  } catch (error) {
    if (isError(error) && 'errcode' in error && error.errcode === BUSY) {
      throw new StoreOpenError(
        `The data directory ${directory} is in use by another process. Stop that process, or name another directory.`,
        { cause: error },
      );
    }
    throw new StoreOpenError(
      `The data directory ${directory} cannot be used (${errorText(error)}). Make it writable, or name another one.`,
      { cause: error },
    );
  }
}
