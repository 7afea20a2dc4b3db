import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { REPOSITORY } from './sandbox.ts';

const TSC = join(REPOSITORY, 'node_modules/typescript/bin/tsc');

/**
 * Compiles the programs of a folder with the options of this repository.
 *
 * @param folder A folder in `apps/docs/reports/`.
 * @param options Further options.
 */
export function compile(folder: string, options: object): { readonly status: number | null; readonly stdout: string } {
  const compilerOptions = { types: ['node'], ...options };
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({ extends: '../../../../tsconfig.base.json', compilerOptions, include: ['*.ts'] }),
  );
  // Several checkers would each check the types that all programs share. A process this short needs no garbage collection.
  const { status, stdout } = spawnSync(process.execPath, [TSC, '-p', folder, '--checkers', '1'], {
    env: { ...process.env, GOGC: 'off' },
    encoding: 'utf8',
  });
  return { status, stdout };
}
