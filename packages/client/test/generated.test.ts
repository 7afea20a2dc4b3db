/** The generated code of the extension: only what it adds to the specification. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from 'vitest';

const generated = join(import.meta.dirname, '../src/generated');

/** The exports of a generated module, with their code. */
function exportsOf(file: string): ReadonlyMap<string, string> {
  const source = readFileSync(join(generated, file), 'utf8');
  const declarations = source.split(/^(?=export (?:type|const) \w+ = )/m).slice(1);
  const trailingComment = /\n\/\*\*(?:(?!\*\/)[^])*\*\/\s*$/;
  return new Map(
    declarations.map((text) => [/^export (?:type|const) (\w+)/.exec(text)?.[1] ?? text, text.replace(trailingComment, '').trim()]),
  );
}

test.each(['types.gen.ts', 'operation-table.gen.ts'])('of %s, the extension repeats no export of the specification', (file) => {
  const base = exportsOf(file);
  const added = exportsOf(`extension/${file}`);
  expect(added.size).toBeGreaterThan(10);
  const changed = [...added.keys()].filter((name) => base.get(name) !== added.get(name));
  // A declaration that is written alike may refer to a type that differs.
  const repeated = [...added].filter(
    ([name, code]) => base.get(name) === code && !changed.some((used) => new RegExp(`\\b${used}\\b`).test(code)),
  );
  expect(repeated.map(([name]) => name)).toEqual([]);
});
