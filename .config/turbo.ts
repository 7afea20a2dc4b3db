/** Runs turbo without its notices: `node .config/run.mjs .config/turbo.ts ARGUMENT...` instead of `turbo ARGUMENT...`. */
import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';

export const REPOSITORY = resolve(import.meta.dirname, '..');

const QUIET = { TURBO_TELEMETRY_DISABLED: '1', TURBO_NO_UPDATE_NOTIFIER: '1', REDOCLY_SUPPRESS_NOTIFICATIONS: 'true' };

/** The file of turbo, with the folder and the environment in which it runs. */
export function turboProgram(): { readonly program: string; readonly cwd: string; readonly env: NodeJS.ProcessEnv } {
  return { program: resolve(REPOSITORY, 'node_modules/turbo/bin/turbo'), cwd: REPOSITORY, env: { ...process.env, ...QUIET } };
}

/** Runs turbo and waits for its end. `output` is empty if turbo printed it directly. */
export function turbo(given: readonly string[], output: 'inherit' | 'pipe'): { readonly status: number; readonly output: string } {
  const { program, cwd, env } = turboProgram();
  const ended = spawnSync(process.execPath, [program, ...given], {
    cwd,
    env,
    encoding: 'utf8',
    maxBuffer: Infinity,
    stdio: ['ignore', output, output],
  });
  if (ended.error !== undefined) throw ended.error;
  return { status: ended.status ?? 1, output: `${ended.stdout ?? ''}${ended.stderr ?? ''}` };
}

// Not import.meta.main, because run.mjs imports the file that it runs.
if (process.argv[1] === import.meta.filename) process.exitCode = turbo(process.argv.slice(2), 'inherit').status;
