/**
 * Keeps the inner ring inside of this process: a test that starts another one fails, and its message says which ring it belongs to.
 * Only `git ls-files` may run, because tests of the repository itself need to know its files.
 */
import childProcess from 'node:child_process';
import { syncBuiltinESMExports } from 'node:module';
import { join, resolve } from 'node:path';

import { expect } from 'vitest';

import { OUTER_EXAMPLES, ring } from './rings.ts';

const EXAMPLES = join(resolve(import.meta.dirname, '..'), OUTER_EXAMPLES);
const STARTS = ['exec', 'execFile', 'execFileSync', 'execSync', 'fork', 'spawn', 'spawnSync'] as const;

// The files of a worker share this process, so the second of them finds the functions replaced.
if (ring === 'inner' && !Object.hasOwn(childProcess, 'replaced')) {
  Object.assign(childProcess, { replaced: true });
  for (const name of STARTS) {
    const start: unknown = childProcess[name];
    if (typeof start !== 'function') continue;
    Object.assign(childProcess, {
      [name](...given: readonly unknown[]) {
        const [program, words] = given;
        const listsFiles = program === 'git' && Array.isArray(words) && words[0] === 'ls-files';
        if (!listsFiles && expect.getState().testPath !== EXAMPLES)
          throw new Error(
            `A test of the inner ring started ${String(program)}. Give the test the tag "outer", or name its file *.outer.test.ts.`,
          );
        return start(...given);
      },
    });
  }
  syncBuiltinESMExports();
}
