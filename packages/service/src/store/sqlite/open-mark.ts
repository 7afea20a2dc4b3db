/**
 * The file `store.open` exists while a process has the store open, and after it has died. Then it says which write-ahead log belongs to which
 * store, so that neither a lost log nor the log of another store goes unnoticed.
 */
import { randomInt } from 'node:crypto';
import { closeSync, existsSync, openSync, readFileSync, readSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';

import { StoreOpenError } from '../store.ts';
import { isDamaged } from './write-ahead-log.ts';

const MARK_FILE = 'store.open';

/** Where a database has the number that its owner may choose, in the first page (https://sqlite.org/fileformat2.html#user_version_number). */
const NUMBER_OFFSET = 60;

/**
 * Checks what an interrupted process has left.
 *
 * @param file The file of the store.
 * @throws StoreOpenError if the write-ahead log is missing or damaged, or belongs to another store.
 */
export function assertComplete(directory: string, file: string): void {
  const mark = join(directory, MARK_FILE);
  if (!existsSync(mark)) return;
  const log = `${file}-wal`;
  const before = `The service that used ${directory} did not end cleanly, and`;
  const after = `Put the files back as they were, or restore a backup into another directory. To continue with what there is, delete ${mark} first.`;
  if (!existsSync(file)) throw new StoreOpenError(`${before} ${file} is missing. ${after}`);
  if (!existsSync(log)) throw new StoreOpenError(`${before} ${log} is missing, which had its last transactions. ${after}`);
  if (statSync(log).size === 0) return;
  if (storeNumberOf(file) !== Number(readFileSync(mark, 'utf8')))
    throw new StoreOpenError(
      `${before} ${file} was replaced since, while ${log} belongs to the store before. Put the files back as they were. To use the new store, delete ${log} and ${mark}.`,
    );
  if (isDamaged(readFileSync(log))) throw new StoreOpenError(`${before} ${log} is damaged, which has its last transactions. ${after}`);
}

/** The number of a store in its file, without its write-ahead log. */
function storeNumberOf(file: string): number {
  const descriptor = openSync(file, 'r');
  try {
    const bytes = Buffer.alloc(4);
    return readSync(descriptor, bytes, 0, 4, NUMBER_OFFSET) === 4 ? bytes.readUInt32BE() : 0;
  } finally {
    closeSync(descriptor);
  }
}

/** Gives the store a new number, in its file and in `store.open`. No transaction may be open. */
export function markOpen(directory: string, connection: DatabaseSync): void {
  const number = randomInt(1, 2 ** 31);
  // The log is empty afterwards, so the number is in the file before anything that needs the log.
  connection.exec(`PRAGMA user_version = ${number}; PRAGMA wal_checkpoint(TRUNCATE)`);
  const file = join(directory, MARK_FILE);
  // A file that exists would keep its mode.
  rmSync(file, { force: true });
  writeFileSync(file, String(number), { mode: 0o600, flush: true });
}

/** Says that the store was closed, so everything is in its file. */
export function markClosed(directory: string): void {
  rmSync(join(directory, MARK_FILE), { force: true });
}

/** A copy is another store. */
export function forgetNumber(connection: DatabaseSync): void {
  connection.exec('PRAGMA user_version = 0');
}
