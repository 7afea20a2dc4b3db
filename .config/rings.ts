/**
 * The rings of the tests, by what a test needs. `test` runs what needs only this process and the embedded engine, and one example of each outer
 * kind. `test:all` also runs what needs another process, a database server, a browser or a package manager: files named `*.outer.test.ts`, tests
 * with the tag `outer`, and the PostgreSQL variant of a test that runs on both engines. `test:deep` runs all of them with larger amounts.
 */
import type { Engine } from '../packages/service/src/store/store.ts';

/** The variable that the scripts set. */
export const RING = 'TEST_RING';

const RINGS = ['inner', 'rest', 'all', 'deep'] as const;

/** `rest` is what `all` adds to `inner`. */
export type Ring = (typeof RINGS)[number];

/** The ring of this run. A file that is named on the command line of Vitest runs whole. */
export const ring: Ring = RINGS.find((name) => name === process.env[RING]) ?? 'all';

/** The tag of a test in an inner file that needs something outside of this process: `test(NAME, { tags: 'outer' }, ...)`. */
export const outerTag = {
  name: 'outer',
  description: 'Needs another process, a database server, a browser or a package manager.',
  skip: ring === 'inner',
};

/** The file with one example of each outer kind, which also runs in the inner ring. */
export const OUTER_EXAMPLES = 'apps/server/test/outer-kinds.test.ts';

/** The engines of a test that runs on each: `describe.each(engines)`. */
export const engines: readonly Engine[] = ring === 'inner' ? ['sqlite'] : ring === 'rest' ? ['postgres'] : ['sqlite', 'postgres'];
