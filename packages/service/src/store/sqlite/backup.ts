/** Copies the embedded store while a service uses it, verifies the copy, and restores it into an empty directory. */
import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

import { StoreOpenError } from '../store.ts';
import { lockDirectory, STORE_FILE } from './open.ts';
import { createPrivateFile } from './private-files.ts';

/** A verified copy. */
export interface StoreCopy {
  readonly bytes: number;
  readonly accounts: number;
  /** Name of the newest migration. */
  readonly schema: string;
}

/**
 * Writes a consistent copy of an embedded store to a file, and verifies it. A service may use the store meanwhile. The copy has all
 * transactions that were committed before the call, and does not delay later ones.
 *
 * @throws StoreOpenError if there is no store, the file exists, or the copy is damaged. Then no file is left behind.
 */
export function backUpSqliteStore({ from, to }: { readonly from: string; readonly to: string }): StoreCopy {
  const source = join(from, STORE_FILE);
  if (!existsSync(source)) throw new StoreOpenError(`There is no embedded store in ${from}. Name the data directory of the service.`);
  if (existsSync(to)) throw new StoreOpenError(`The file ${to} exists already. Name a new file; a backup overwrites nothing.`);
  return writeCopy(source, to);
}

/**
 * Restores an embedded store from a backup into a directory without a store.
 *
 * @throws StoreOpenError if the backup is damaged, or the directory has a store or is in use. Then the directory is unchanged.
 */
export function restoreSqliteStore({ from, to }: { readonly from: string; readonly to: string }): StoreCopy {
  if (!existsSync(from)) throw new StoreOpenError(`There is no file ${from}. Name the file of a backup.`);
  verify(from);
  mkdirSync(to, { recursive: true, mode: 0o700 });
  const lock = lockDirectory(to);
  try {
    const target = join(to, STORE_FILE);
    // Files of a write-ahead log would be applied to the restored store.
    const kept = ['', '-wal', '-journal'].map((suffix) => `${target}${suffix}`).find((file) => existsSync(file));
    if (kept !== undefined)
      throw new StoreOpenError(`The directory ${to} already has a store (${kept}). Name an empty directory; a restore overwrites nothing.`);
    return writeCopy(from, target);
  } finally {
    lock.close();
  }
}

/** Copies under another name, so that the file appears complete and verified or not at all. */
function writeCopy(source: string, target: string): StoreCopy {
  const unfinished = `${target}.unfinished`;
  try {
    mkdirSync(dirname(target), { recursive: true, mode: 0o700 });
    rmSync(unfinished, { force: true });
    // VACUUM INTO accepts an empty file, and keeps its mode.
    createPrivateFile(unfinished);
    const connection = new DatabaseSync(source, { readOnly: true });
    try {
      connection.prepare('VACUUM INTO ?').run(unfinished);
    } finally {
      connection.close();
    }
    const copy = verify(unfinished);
    sync(unfinished);
    renameSync(unfinished, target);
    sync(dirname(target));
    return copy;
  } catch (error) {
    rmSync(unfinished, { force: true });
    if (error instanceof StoreOpenError) throw error;
    throw new StoreOpenError(`${source} could not be copied to ${target} (${messageOf(error)}). Check both places and the free space.`, {
      cause: error,
    });
  }
}

function verify(file: string): StoreCopy {
  const connection = new DatabaseSync(file, { readOnly: true });
  try {
    const damage = [...connection.prepare('PRAGMA integrity_check').all(), ...connection.prepare('PRAGMA foreign_key_check').all()]
      .map((row) => Object.values(row).join(' '))
      .filter((text) => text !== 'ok');
    if (damage.length > 0) throw new Error(damage.slice(0, 3).join('; '));
    const schema = connection.prepare('select max(name) as name from kysely_migration').get()?.['name'];
    if (typeof schema !== 'string') throw new Error('it has no tables of a service');
    return { bytes: statSync(file).size, accounts: Number(connection.prepare('select count(*) as n from accounts').get()?.['n']), schema };
  } catch (error) {
    throw new StoreOpenError(`The file ${file} is not a sound store of a service (${messageOf(error)}). Use another backup.`, {
      cause: error,
    });
  } finally {
    connection.close();
  }
}

function sync(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
