/** The server that tests start as a process: a bundle, because a process that loads the sources takes twice as long to start. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

import { inject } from 'vitest';

import './provided.ts';

const BUNDLER = resolve(import.meta.dirname, '../apps/server/test/bundle.ts');

/**
 * The file that a process of a test runs. The first call of a run creates the bundle.
 *
 * @param command Name of the file in `apps/server/src`.
 */
export function serverProgram(command = 'main'): string {
  const made = join(inject('runFolder'), 'server-bundle');
  if (!existsSync(made)) {
    // Two processes may create it at the same time. Both create the same bundle, and the rename prevents that one reads half a path.
    const own = `${made}-${process.pid}`;
    writeFileSync(own, execFileSync(process.execPath, [BUNDLER], { encoding: 'utf8' }));
    renameSync(own, made);
  }
  return join(readFileSync(made, 'utf8'), 'src', `${command}.js`);
}
