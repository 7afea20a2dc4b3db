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

/**
 * Compiles a project with the TypeScript of the root.
 *
 * @param options The project, and options of the command line.
 * @throws Error with the errors of the compiler
 */
export function compile(...options: readonly string[]): void {
  const { status, stdout } = tsc('-p', ...options);
  if (status !== 0) throw new Error(`TypeScript failed:\n${stdout}`);
}
