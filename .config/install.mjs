// @ts-check
/** Installs packages. Plain JavaScript, because it runs before anything is installed, on any Node from version 20. */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The command that runs pnpm: the pnpm that runs this process, or else the one that npx finds. */
export const [PNPM = '', ...PNPM_ARGUMENTS] = commandOf(process.env['npm_execpath']);

/** @param {string | undefined} running */
function commandOf(running) {
  if (running === undefined) return ['npx', '--yes', 'pnpm@12'];
  return /\.[cm]?js$/.test(running) ? [process.execPath, running] : [running];
}

/**
 * Installs the versions of a lock file, unless they are installed. Shows on standard error what it does.
 *
 * @param {string} folder The folder of the lock file.
 * @param {string} announcement What is installed, and how long it takes.
 * @param {{ project?: string, given?: readonly string[] }} [options] `project` is the folder whose packages are installed, if not all, and
 * `given` are arguments of `pnpm install`.
 * @returns {'installed' | 'unchanged' | 'failed'}
 */
export function install(folder, announcement, { project = folder, given = [] } = {}) {
  const lock = readFileSync(join(folder, 'pnpm-lock.yaml'), 'utf8');
  // A copy of the lock file that was installed last. pnpm writes one, but for some of the projects it contains only their packages.
  const installed = join(project, 'node_modules', project === folder ? '.pnpm/lock.yaml' : 'installed-lock.yaml');
  if (existsSync(installed) && readFileSync(installed, 'utf8') === lock) return 'unchanged';
  process.stderr.write(`${announcement}\n`);
  const { status } = spawnSync(PNPM, [...PNPM_ARGUMENTS, 'install', '--frozen-lockfile', '--loglevel=info', ...given], {
    cwd: folder,
    // Standard output belongs to the script, which may write a report to it.
    stdio: ['ignore', 2, 2],
  });
  if (status !== 0) return 'failed';
  if (project !== folder) writeFileSync(installed, lock);
  return 'installed';
}
