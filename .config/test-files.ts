/** The test files of a ring. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { ring } from './rings.ts';
import { REPOSITORY } from './turbo.ts';

const ALL = '{openapi,packages,apps,examples,.config}/**/*.test.ts';
const OUTER = /\.outer\.test\.ts$/;
/** The text of an inner file that has tests of other rings: the tag, or a test on both engines. */
const PARTLY_OUTER = /tags: 'outer'|\bengines\b/;
/** The text of a file with a test that a deep run makes larger or adds. */
const PARTLY_DEEP = /\bdepth\.ts'|'deep'/;

/** The files of the ring of this run. */
export function testFiles(): string[] {
  if (ring === 'all' || ring === 'deep') return [ALL];
  if (ring === 'inner') return filesWhere((file) => !OUTER.test(file));
  return filesWhere((file, text) => OUTER.test(file) || PARTLY_OUTER.test(text));
}

/** The files in which `test:deep` does more than `test:all`. */
export function deepFiles(): string[] {
  return filesWhere((_file, text) => PARTLY_DEEP.test(text));
}

function filesWhere(isWanted: (file: string, text: string) => boolean): string[] {
  const files = globSync(ALL, { cwd: REPOSITORY, exclude: (path) => /(?:^|[\\/])(?:node_modules|dist)$/.test(path) });
  return files.filter((file) => isWanted(file, readFileSync(join(REPOSITORY, file), 'utf8')));
}
