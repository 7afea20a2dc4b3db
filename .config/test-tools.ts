/**
 * Installs the large tools that only the tests need: browsers, runtimes, compilers, a database server. They have a lock file of their own,
 * so that the first start does not download them.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { PNPM, PNPM_ARGUMENTS } from './pnpm.ts';

const FOLDER = import.meta.dirname;
/** A copy of the lock file that was installed last. */
const INSTALLED = join(FOLDER, 'node_modules', 'installed-lock.yaml');

/** Installs the tools unless the versions of the lock file are installed. */
export function installTestTools(): void {
  const lock = readFileSync(join(FOLDER, 'pnpm-lock.yaml'), 'utf8');
  if (existsSync(INSTALLED) && readFileSync(INSTALLED, 'utf8') === lock) return;
  const { status, error, stdout } = spawnSync(PNPM, [...PNPM_ARGUMENTS, 'install', '--frozen-lockfile'], {
    cwd: FOLDER,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (status !== 0) {
    throw new Error(`The tools of the tests could not be installed. Check the connection to the package registry.\n${stdout ?? ''}`, {
      cause: error,
    });
  }
  writeFileSync(INSTALLED, lock);
}
