/**
 * Installs the large tools that only the tests or the documentation site need: browsers, runtimes, compilers, a database server, VitePress.
 * They have lock files of their own, so that the first start does not download them.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { PNPM, PNPM_ARGUMENTS } from './pnpm.ts';

/** Installs the tools of the tests. */
export function installTestTools(): void {
  return installTools(import.meta.dirname);
}

/** Installs the tools of a folder, unless the versions of its lock file are installed. */
export function installTools(folder: string): void {
  const lock = readFileSync(join(folder, 'pnpm-lock.yaml'), 'utf8');
  // A copy of the lock file that was installed last.
  const installed = join(folder, 'node_modules', 'installed-lock.yaml');
  if (existsSync(installed) && readFileSync(installed, 'utf8') === lock) return;
  const { status, error, stdout } = spawnSync(PNPM, [...PNPM_ARGUMENTS, 'install', '--frozen-lockfile'], {
    cwd: folder,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (status !== 0) {
    throw new Error(`The tools of ${folder} could not be installed. Check the connection to the package registry.\n${stdout ?? ''}`, {
      cause: error,
    });
  }
  writeFileSync(installed, lock);
}
