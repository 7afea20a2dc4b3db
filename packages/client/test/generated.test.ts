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

/** The types of the extension that differ from those of the specification, or refer to a type that differs. */
function differingTypes(): ReadonlySet<string> {
  const base = exportsOf('types.gen.ts');
  const added = exportsOf('extension/types.gen.ts');
  const differing = new Set([...added.keys()].filter((name) => base.get(name) !== added.get(name)));
  // The loop also visits the types that it adds.
  for (const used of differing) for (const [name, code] of added) if (new RegExp(`\\b${used}\\b`).test(code)) differing.add(name);
  return differing;
}

test('the extension repeats no type of the specification', () => {
  const added = exportsOf('extension/types.gen.ts');
  expect(added.size).toBeGreaterThan(10);
  const differing = differingTypes();
  expect([...added.keys()].filter((name) => !differing.has(name))).toEqual([]);
});

test('the extension repeats the facts of an operation only if its form or its response differs', () => {
  const base = exportsOf('operation-table.gen.ts');
  const added = exportsOf('extension/operation-table.gen.ts');
  expect(added.size).toBeGreaterThan(10);
  const differing = differingTypes();
  const repeated = [...added].filter(([name, code]) => base.get(name) === code).map(([name]) => name.replace(/Facts$/, ''));
  const differs = (id: string) => ['Data', 'Responses'].some((part) => differing.has(`${id.charAt(0).toUpperCase()}${id.slice(1)}${part}`));
  expect(repeated.filter((id) => !differs(id))).toEqual([]);
});
