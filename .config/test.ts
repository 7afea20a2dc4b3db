/**
 * The scripts `test`, `test:all`, `test:rest` and `test:deep`: the tests of a ring (`rings.ts`), with the checks next to them. `test.ts RING [ARGUMENT...]`,
 * with arguments of Vitest.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

import { CHECKS } from './checks.ts';
import { RING } from './rings.ts';
import { REPOSITORY, turbo } from './turbo.ts';

const VITEST = join(REPOSITORY, 'node_modules/vitest/vitest.mjs');
const CONFIGURATION = join(import.meta.dirname, 'vitest.config.ts');

const [ring = 'inner', ...given] = process.argv.slice(2);
const namesFiles = given.some((argument) => !argument.startsWith('-'));
/** The inner tests of a named file are not all of its tests. */
const environment = namesFiles ? { [RING]: ring === 'inner' ? 'all' : ring } : { [RING]: ring, [CHECKS]: 'on' };
// Outer tests read the documentation site and the console.
const built = ring === 'inner' ? 0 : turbo(['run', 'build', '--output-logs=errors-only'], 'inherit').status;
process.exitCode =
  built ||
  (spawnSync(process.execPath, [VITEST, 'run', '--config', CONFIGURATION, ...given], {
    stdio: 'inherit',
    env: { ...process.env, ...environment },
  }).status ??
    1);
