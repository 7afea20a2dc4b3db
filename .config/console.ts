/** Builds the console, and installs the packages that this needs. The server runs it at the first visit of the console. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

import { install } from './install.mjs';
import { REPOSITORY } from './turbo.ts';

/** Without the packages of the server, pnpm would remove them. */
const OF_START_AND_CONSOLE = ['--prod', '--filter', '.', '--filter-prod', '{./apps/console}...', '--filter-prod', '{./apps/server}...'];
const project = join(REPOSITORY, 'apps/console');
const hasAll = existsSync(join(REPOSITORY, 'node_modules/turbo'));
const result = hasAll
  ? await install(REPOSITORY, 'Installing the packages of all scripts.')
  : await install(REPOSITORY, 'Installing the packages of the console.', { project, given: OF_START_AND_CONSOLE });
process.exitCode = result === 'failed' ? 1 : (spawnSync(process.execPath, ['build.ts'], { cwd: project, stdio: 'inherit' }).status ?? 1);
