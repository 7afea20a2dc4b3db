/** Files that their owner alone can read, whatever the folder around them allows. */
import { chmodSync, closeSync, openSync, statSync } from 'node:fs';

const OTHERS = 0o077;

/**
 * Creates an empty file that its owner alone can read, or takes an existing one from everyone else. An existing file is not
 * opened: closing it again would release the locks that this process has on it.
 */
export function createPrivateFile(file: string): void {
  try {
    closeSync(openSync(file, 'wx', 0o600));
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    makePrivate(file);
  }
}

/** Takes a file from everyone but its owner; a file that does not exist is left alone. */
export function makePrivate(file: string): void {
  const mode = statSync(file, { throwIfNoEntry: false })?.mode;
  if (mode !== undefined && (mode & OTHERS) !== 0) chmodSync(file, mode & ~OTHERS & 0o777);
}
