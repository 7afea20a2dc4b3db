/** Type-checks every package of the workspace, and this folder, with the TypeScript of the root. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, globSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';

import { installTestTools } from './test-tools.ts';
import { REPOSITORY } from './turbo.ts';

const CONCURRENCY = 2;
const TSC = join(REPOSITORY, 'node_modules/typescript/bin/tsc');

// Tests import them.
await installTestTools();

const waiting = globSync(['openapi', 'packages/*', 'apps/*', 'examples/*', '.config'], { cwd: REPOSITORY }).filter((folder) =>
  existsSync(join(REPOSITORY, folder, 'tsconfig.json')),
);
await Promise.all(Array.from({ length: CONCURRENCY }, checkNext));

async function checkNext(): Promise<void> {
  for (let folder = waiting.shift(); folder !== undefined; folder = waiting.shift()) {
    // Run in the root, so that the paths in errors are relative to it.
    // Several checkers would each check the types that all files share. Rarer garbage collection saves a fifth of the CPU time.
    const tsc = spawn(process.execPath, [TSC, '-p', folder, '--checkers', '1'], {
      cwd: REPOSITORY,
      env: { ...process.env, GOGC: '400' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [errors, [code]] = await Promise.all([text(tsc.stdout), once(tsc, 'exit')]);
    process.stdout.write(errors);
    if (code !== 0) process.exitCode = 1;
  }
}
