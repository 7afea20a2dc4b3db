/**
 * Writes the rows of the environment variables into README.md, which has a table for each group and decides the group of a variable. With
 * `--check` it only compares, and fails if a row is out of date.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import * as v from 'valibot';

import { variables } from '../src/variables.ts';

const README = join(import.meta.dirname, '../README.md');
const ROW = /^\| `([A-Z_]+)` \|.*\n/gm;

const rows = new Map(
  Object.entries(variables.entries).map(([name, schema]) => {
    const { meaning, standard } = v.getMetadata(schema);
    const value = 'default' in schema && typeof schema.default === 'string' && schema.default !== '' ? `\`${schema.default}\`` : standard;
    return [name, `| \`${name}\` | ${value === '' ? '' : `${value} `}| ${meaning} |\n`];
  }),
);
const committed = readFileSync(README, 'utf8');
const fresh = committed.replace(ROW, (_row, name: string) => rows.get(name) ?? '');
const named = [...fresh.matchAll(ROW)].map(([, name = '']) => name);
const missing = [...rows.keys()].filter((name) => !named.includes(name));
const twice = named.filter((name, index) => named.indexOf(name) < index);
if (missing.length > 0 || twice.length > 0) {
  const mistakes = [...missing.map((name) => `no row for ${name}`), ...twice.map((name) => `two rows for ${name}`)];
  process.stderr.write(`README.md has ${mistakes.join(', ')}. Write one row | \`NAME\` | | | into the table of its group.\n`);
  process.exitCode = 1;
} else if (!process.argv.includes('--check')) writeFileSync(README, fresh);
else if (fresh !== committed) {
  process.stderr.write("The tables of variables in README.md are out of date. Run 'npx -y pnpm@12 generate' and commit the result.\n");
  process.exitCode = 1;
}
