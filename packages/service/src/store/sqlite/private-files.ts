/** Files that only their owner can read, regardless of the directory's permissions. */
import { chmodSync, closeSync, existsSync, mkdirSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

import { hasErrorCode } from '@reseller/contract/is-error';

const OTHERS = 0o077;

/**
 * Creates an empty file that only its owner can read, or restricts an existing one. An existing file is not opened, because closing it
 * would release the locks that this process has on it.
 */
export function createPrivateFile(file: string): void {
  try {
    closeSync(openSync(file, 'wx', 0o600));
  } catch (error) {
    if (!hasErrorCode(error, 'EEXIST')) throw error;
    makePrivate(file);
  }
}

/**
 * Creates a directory that only its owner can use, with its missing parents. Node's own recursive form never returns below a directory in
 * which nothing can be created, such as /proc.
 */
export function makePrivateDirectory(path: string): void {
  if (existsSync(path)) return;
  makePrivateDirectory(dirname(path));
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if (!hasErrorCode(error, 'EEXIST')) throw error;
  }
}

/** Restricts a file to its owner. Does nothing if the file does not exist. */
export function makePrivate(file: string): void {
  const mode = statSync(file, { throwIfNoEntry: false })?.mode;
  if (mode !== undefined && (mode & OTHERS) !== 0) chmodSync(file, mode & ~OTHERS & 0o777);
}
