import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const TSC = join(import.meta.dirname, '../node_modules/typescript/bin/tsc');

/** Runs the TypeScript of the root with options of its command line, for tests. */
export function tsc(...options: readonly string[]): { readonly status: number | null; readonly stdout: string } {
  // Several checkers would each check the types that all files share. A process this short needs no garbage collection.
  const { status, stdout } = spawnSync(process.execPath, [TSC, ...options, '--checkers', '1'], {
    env: { ...process.env, GOGC: 'off' },
    encoding: 'utf8',
  });
  return { status, stdout };
}
