/** The tests of one area. StrykerJS adds its own settings. */
import { resolve } from 'node:path';

import { defineConfig } from 'vitest/config';

import { deepTag } from '../depth.ts';

const { MUTATION_TESTS = '', MUTATION_SET_UP = '' } = process.env;

export default defineConfig({
  root: resolve(import.meta.dirname, '../..'),
  test: {
    include: MUTATION_TESTS.split('\n'),
    globalSetup: MUTATION_SET_UP.split('\n').filter(Boolean),
    // As in the suite: most tests need the whole service, and compiling it once per file would take most of the time.
    isolate: false,
    reporters: [{}],
    tags: [deepTag],
    testTimeout: 300_000,
    hookTimeout: 300_000,
    restoreMocks: true,
  },
});
