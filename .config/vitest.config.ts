import { resolve } from 'node:path';

import { defineConfig } from 'vitest/config';

import { closingLine } from './closing-line.ts';

/** One run for all packages, so that one line has the result. */
export default defineConfig({
  root: resolve(import.meta.dirname, '..'),
  test: {
    globalSetup: ['.config/postgres.ts', '.config/run-folder.ts'],
    include: ['{openapi,packages,apps,.config}/**/*.test.ts'],
    exclude: ['**/node_modules/**', '**/dist/**'],
    reporters: ['default', closingLine()],
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 120_000,
    restoreMocks: true,
  },
});
