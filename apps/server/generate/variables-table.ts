/** Writes the table of environment variables into README.md. With `--check` it only compares, and fails if the table is out of date. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import * as v from 'valibot';

import { variables } from '../src/variables.ts';

const README = join(import.meta.dirname, '../README.md');
const HEAD = '| variable | default | meaning |\n|---|---|---|\n';
const TABLE = /\| variable \| default \| meaning \|\n(?:\|.*\n)+/;

const rows = Object.entries(variables.entries).map(([name, schema]) => {
  const { meaning, standard } = v.getMetadata(schema);
  const value = 'default' in schema && typeof schema.default === 'string' && schema.default !== '' ? `\`${schema.default}\`` : standard;
  return `| \`${name}\` | ${value === '' ? '' : `${value} `}| ${meaning} |\n`;
});
const committed = readFileSync(README, 'utf8');
const fresh = committed.replace(TABLE, () => HEAD + rows.join(''));
if (!process.argv.includes('--check')) writeFileSync(README, fresh);
else if (fresh !== committed) {
  process.stderr.write("The table of variables in README.md is out of date. Run 'npx -y pnpm@12 generate' and commit the result.\n");
  process.exitCode = 1;
}
