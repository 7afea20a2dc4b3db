/** The types of the extension without those of the specification, which both documents describe alike. */

/** A declaration of a type with its comment, as `openapi-ts` writes it. */
const DECLARATION = /(?:\/\*\*\n(?: \*.*\n)* \*\/\n)?export type (\w+) = [^]*?;\n(?=\n|$)/g;

/** A file of types without the declarations that the other file has too. It exports those from the other file. */
export function withoutBase(types: string, base: string): string {
  const known = declarationsIn(base);
  const declarations = declarationsIn(types);
  const own = new Set([...declarations.keys()].filter((name) => known.get(name) !== declarations.get(name)));
  // A declaration that refers to another type in each document differs too.
  for (let size = -1; size !== own.size;) {
    size = own.size;
    for (const [name, text] of declarations) if (namesIn(text).some((used) => own.has(used))) own.add(name);
  }
  const body = [...own].map((name) => declarations.get(name)).join('\n');
  const used = new Set(namesIn(body).filter((name) => declarations.has(name) && !own.has(name)));
  const [header = ''] = types.split('\n');
  return [
    header,
    '',
    `import type { ${[...used].toSorted().join(', ')} } from '../types.gen.ts';`,
    '',
    "export type * from '../types.gen.ts';",
    '',
    body,
  ].join('\n');
}

function declarationsIn(types: string): ReadonlyMap<string, string> {
  return new Map([...types.matchAll(DECLARATION)].map(([text, name = '']) => [name, text]));
}

function namesIn(text: string): readonly string[] {
  return text.replaceAll(/\/\*[^]*?\*\//g, '').match(/\b[A-Z]\w*/g) ?? [];
}
