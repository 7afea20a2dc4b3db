// @ts-check
/** Installs packages. Plain JavaScript, because it runs before anything is installed, on any Node from version 20. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The longest time without a line on the screen. A registry that stalls keeps pnpm silent for up to a minute per request. */
const LONGEST_SILENCE_S = 8;

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
 * @returns {Promise<'installed' | 'unchanged' | 'failed'>}
 */
export async function install(folder, announcement, { project = folder, given = [] } = {}) {
  const lock = readFileSync(join(folder, 'pnpm-lock.yaml'), 'utf8');
  // What was installed last. pnpm writes a copy of the lock file, but for some of the projects it contains only their packages.
  const installed = join(project, 'node_modules', project === folder ? '.pnpm/lock.yaml' : 'installed-lock.yaml');
  const wanted = project === folder ? lock : `# ${given.join(' ')}\n${lock}`;
  if (existsSync(installed) && readFileSync(installed, 'utf8') === wanted) return 'unchanged';
  process.stderr.write(`${announcement}\n`);
  // Whoever runs a script of this repository trusts its lock file too. Without the option, pnpm downloads the release dates of all packages.
  const options = ['--frozen-lockfile', '--trust-lockfile', '--loglevel=info', '--reporter=append-only'];
  const pnpm = spawn(PNPM, [...PNPM_ARGUMENTS, 'install', ...options, ...given], { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
  const silence = setInterval(() => {
    process.stderr.write(`Still waiting for the package registry, ${Math.round(process.uptime())} s since the start.\n`);
  }, LONGEST_SILENCE_S * 1000);
  for (const output of [pnpm.stdout, pnpm.stderr])
    output.on('data', (lines) => {
      silence.refresh();
      // Standard output belongs to the script, which may write a report to it.
      process.stderr.write(lines);
    });
  const [status] = await once(pnpm, 'close');
  clearInterval(silence);
  if (status !== 0) return 'failed';
  if (project !== folder) writeFileSync(installed, wanted);
  return 'installed';
}
