import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';

import { defineConfig } from 'vitest/config';

import { closingLine } from './closing-line.ts';
import { deepTag, POLL_LIMIT_MS, TEST_TIMEOUT_MS } from './depth.ts';
import { QUIET_TOOLS } from './quiet-tools.ts';
import { outerTag, ring } from './rings.ts';
import { testFiles } from './test-files.ts';
import { installTestTools } from './test-tools.ts';

// Tests start many processes that compile the same modules. Node shares the results between processes and runs.
process.env['NODE_COMPILE_CACHE'] ??= resolve(import.meta.dirname, '../node_modules/.cache/node-compile');

await installTestTools();

Object.assign(process.env, QUIET_TOOLS);

// Far from UTC, so that a test fails if anything depends on the local time. Processes of tests inherit it.
process.env['TZ'] = 'Pacific/Kiritimati';

/** One run for all packages, so that one line has the result. */
export default defineConfig({
  root: resolve(import.meta.dirname, '..'),
  test: {
    globalSetup: ['.config/postgres.ts', '.config/run-folder.ts'],
    include: testFiles(),
    exclude: ['**/node_modules/**', '**/dist/**'],
    setupFiles: ['.config/in-process.ts'],
    reporters: ['default', closingLine()],
    pool: 'forks',
    // Outer tests wait for processes, disks and timeouts. Inner tests compute, and each further worker compiles the service once more.
    maxWorkers: ring === 'inner' ? Math.min(availableParallelism(), 4) : 4,
    // Most tests need the whole service. Compiling it once per worker, not once per file, takes most of the time off many files.
    isolate: false,
    // Node runs the sources as it does in the service. Vite would transform each module first, which takes a quarter of a run.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    tags: [deepTag, outerTag],
    testTimeout: TEST_TIMEOUT_MS,
    // A hook may pack every package, which takes minutes on a busy machine.
    hookTimeout: 1_200_000,
    expect: { poll: { timeout: POLL_LIMIT_MS, interval: 10 } },
    restoreMocks: true,
  },
});
