import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { tsc } from '../../../.config/tsc.ts';

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
  return tsc('-p', folder);
}
