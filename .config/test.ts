/** All checks, then the tests: the script `test`, and with `--deep` the script `test:deep`. The other arguments are those of vitest. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

import { DEPTH } from './depth.ts';
import { REPOSITORY, turbo } from './turbo.ts';

const VITEST = join(REPOSITORY, 'node_modules/vitest/vitest.mjs');
const CONFIGURATION = join(import.meta.dirname, 'vitest.config.ts');

const given = process.argv.slice(2).filter((argument) => argument !== '--deep');
if (given.length < process.argv.length - 2) process.env[DEPTH] = 'deep';

const checks = turbo(['run', 'lint', 'generate:check', 'typecheck', 'build', '--output-logs=errors-only'], 'inherit');
process.exitCode =
  checks.status || (spawnSync(process.execPath, [VITEST, 'run', '--config', CONFIGURATION, ...given], { stdio: 'inherit' }).status ?? 1);
