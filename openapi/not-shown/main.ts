/** Writes NOT-SHOWN.md from the bundle. With `--check` it only compares, and fails if the file is out of date. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { isFields } from '../lint/nodes.ts';
import { notShownTable } from './table.ts';

const FOLDER = join(import.meta.dirname, '..');
const TABLE = join(FOLDER, 'generated/NOT-SHOWN.md');

const document: unknown = JSON.parse(readFileSync(join(FOLDER, 'dist/openapi.json'), 'utf8'));
if (!isFields(document)) throw new Error('dist/openapi.json is not an OpenAPI document.');
const fresh = notShownTable(document);
if (!process.argv.includes('--check')) {
  mkdirSync(dirname(TABLE), { recursive: true });
  writeFileSync(TABLE, fresh);
} else if (!existsSync(TABLE) || readFileSync(TABLE, 'utf8') !== fresh) {
  process.stderr.write("generated/NOT-SHOWN.md is not what the document gives. Run 'npx pnpm@12 generate' and commit the result.\n");
  process.exitCode = 1;
}
