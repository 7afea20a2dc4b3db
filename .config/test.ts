/** All checks, then the tests: the script `test`. Its arguments are those of vitest. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

import { REPOSITORY, turbo } from './turbo.ts';

const VITEST = join(REPOSITORY, 'node_modules/vitest/vitest.mjs');
const CONFIGURATION = join(import.meta.dirname, 'vitest.config.ts');

const checks = turbo(['run', 'lint', 'generate:check', 'typecheck', 'build', '--output-logs=errors-only'], 'inherit');
process.exitCode =
  checks.status ||
  (spawnSync(process.execPath, [VITEST, 'run', '--config', CONFIGURATION, ...process.argv.slice(2)], { stdio: 'inherit' }).status ?? 1);
