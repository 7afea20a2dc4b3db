/** The test files of the ring of this run. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { ring } from './rings.ts';
import { REPOSITORY } from './turbo.ts';

const ALL = '{openapi,packages,apps,examples,.config}/**/*.test.ts';
const OUTER = /\.outer\.test\.ts$/;
/** The text of an inner file that has tests of other rings: the tag, or a test on both engines. */
const PARTLY_OUTER = /tags: 'outer'|\bengines\b/;

export function testFiles(): string[] {
  if (ring === 'all' || ring === 'deep') return [ALL];
  const files = globSync(ALL, { cwd: REPOSITORY, exclude: (path) => /(?:^|[\\/])(?:node_modules|dist)$/.test(path) });
  if (ring === 'inner') return files.filter((file) => !OUTER.test(file));
  return files.filter((file) => OUTER.test(file) || PARTLY_OUTER.test(readFileSync(join(REPOSITORY, file), 'utf8')));
}
