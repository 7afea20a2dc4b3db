/** Copies the embedded store while a service uses it, verifies the copy, and restores it into an empty directory. */
import { createHash } from 'node:crypto';
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, readSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

import { errorText } from '@reseller/contract/is-error';

import { noteBackup } from '../backups.ts';
import { StoreOpenError } from '../store.ts';
import { forgetNumber, markClosed } from './open-mark.ts';
import { lockDirectory, STORE_FILE } from './open.ts';
import { createPrivateFile, makePrivateDirectory } from './private-files.ts';

/** A verified copy. */
export interface StoreCopy {
  readonly bytes: number;
  readonly accounts: number;
  /** Name of the newest migration. */
  readonly schema: string;
}

/** A restored copy. */
export interface RestoredCopy extends StoreCopy {
  /** Whether a file with the checksum of the backup was next to it. */
  readonly hasChecksum: boolean;
}

/**
 * Writes a consistent copy of an embedded store to a file, verifies it, and writes its SHA-256 to a file next to it, in the format of
 * `sha256sum`. A service may use the store meanwhile. The copy has all transactions that were committed before the call, and does not delay
 * later ones.
 *
 * @throws StoreOpenError if there is no store, the file exists, or the copy is damaged. Then no file is left behind.
 */
export function backUpSqliteStore({ from, to }: { readonly from: string; readonly to: string }): StoreCopy {
  const source = join(from, STORE_FILE);
  if (!existsSync(source)) throw new StoreOpenError(`There is no embedded store in ${from}. Name the data directory of the service.`);
  if (existsSync(to)) throw new StoreOpenError(`The file ${to} exists already. Name a new file; a backup overwrites nothing.`);
  const copy = writeCopy(source, to);
  writeFileSync(checksumFileOf(to), `${sha256Of(to)}  ${basename(to)}\n`, { mode: 0o600, flush: true });
  noteBackup(from, { time: Date.now(), file: to, bytes: copy.bytes });
  return copy;
}

function checksumFileOf(file: string): string {
  return `${file}.sha256`;
}

/** @returns Hexadecimal. */
function sha256Of(file: string): string {
  const hash = createHash('sha256');
  const piece = Buffer.alloc(1_048_576);
  const descriptor = openSync(file, 'r');
  try {
    for (let length = readSync(descriptor, piece); length > 0; length = readSync(descriptor, piece)) hash.update(piece.subarray(0, length));
  } finally {
    closeSync(descriptor);
  }
  return hash.digest('hex');
}

/** @returns Whether there is a checksum. @throws StoreOpenError if the file differs from it. */
function verifyChecksum(file: string): boolean {
  const checksumFile = checksumFileOf(file);
  if (!existsSync(checksumFile)) return false;
  const [expected = ''] = readFileSync(checksumFile, 'utf8').split(/\s/);
  if (sha256Of(file) === expected) return true;
  throw new StoreOpenError(
    `The file ${file} differs from its checksum in ${checksumFile}, so it is not the backup that was written. Use another backup.`,
  );
}

export interface Restoration {
  readonly from: string;
  readonly to: string;
  /** Whether a backup without its checksum is refused. */
  readonly needsChecksum: boolean;
}

/**
 * Restores an embedded store from a backup into a directory without a store.
 *
 * @throws StoreOpenError if the backup is damaged, lacks a checksum that it needs, or the directory has a store or is in use. Then the directory is unchanged.
 */
export function restoreSqliteStore({ from, to, needsChecksum }: Restoration): RestoredCopy {
  if (!existsSync(from)) throw new StoreOpenError(`There is no file ${from}. Name the file of a backup.`);
  const hasChecksum = verifyChecksum(from);
  verify(from);
  // The check of the structure does not notice a value that was altered.
  if (needsChecksum && !hasChecksum)
    throw new StoreOpenError(
      `The checksum ${checksumFileOf(from)} is missing, so an altered value in ${from} would not be noticed. Put the file there, or restore with --without-checksum.`,
    );
  makePrivateDirectory(to);
  const lock = lockDirectory(to);
  try {
    const target = join(to, STORE_FILE);
    // Files of a write-ahead log would be applied to the restored store.
    const kept = ['', '-wal', '-journal'].map((suffix) => `${target}${suffix}`).find((file) => existsSync(file));
    if (kept !== undefined)
      throw new StoreOpenError(`The directory ${to} already has a store (${kept}). Name an empty directory; a restore overwrites nothing.`);
    // An interrupted process left it with a store that is gone.
    markClosed(to);
    return { ...writeCopy(from, target), hasChecksum };
  } finally {
    lock.close();
  }
}

/** Copies under another name, so that the file appears complete and verified or not at all. */
function writeCopy(source: string, target: string): StoreCopy {
  const unfinished = `${target}.unfinished`;
  try {
    makePrivateDirectory(dirname(target));
    rmSync(unfinished, { force: true });
    // VACUUM INTO accepts an empty file, and keeps its mode.
    createPrivateFile(unfinished);
    const connection = new DatabaseSync(source, { readOnly: true });
    try {
      connection.prepare('VACUUM INTO ?').run(unfinished);
    } finally {
      connection.close();
    }
    const written = new DatabaseSync(unfinished);
    forgetNumber(written);
    written.close();
    const copy = verify(unfinished);
    syncFile(unfinished);
    renameSync(unfinished, target);
    syncFile(dirname(target));
    return copy;
  } catch (error) {
    rmSync(unfinished, { force: true });
    if (error instanceof StoreOpenError) throw error;
    throw new StoreOpenError(`${source} could not be copied to ${target} (${errorText(error)}). Check both places and the free space.`, {
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
    throw new StoreOpenError(`The file ${file} is not a sound store of a service (${errorText(error)}). Use another backup.`, {
      cause: error,
    });
  } finally {
    connection.close();
  }
}

function syncFile(path: string): void {
  const descriptor = openSync(path, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
