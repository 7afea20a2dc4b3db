/** The checks of a run that need no test: lint, generated code and types. They run next to the tests. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';

import { turboProgram } from './turbo.ts';

/** The variable that the scripts `test`, `test:all` and `test:deep` set. A run of single files has no checks. */
export const CHECKS = 'TEST_CHECKS';

const TASKS = ['lint', 'generate:check', 'typecheck'];

export interface Checks {
  /** Waits for the checks. Returns what they printed if one of them failed. */
  conclude(): Promise<string | undefined>;
}

export function startChecks(): Checks {
  const { program, cwd, env } = turboProgram();
  // Each task that fails prints what it found. The others go on, so that one run names everything.
  const turbo = spawn(process.execPath, [program, 'run', ...TASKS, '--continue', '--output-logs=errors-only'], {
    cwd,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = Promise.all([text(turbo.stdout), text(turbo.stderr), once(turbo, 'exit')]);
  return {
    async conclude() {
      const [stdout, stderr, [code]] = await ended;
      return code === 0 ? undefined : stdout + stderr;
    },
  };
}
