/** Options of the plugin `@hey-api/typescript`, and changes of the document before types are generated from it. */
import type { Plugins } from '@hey-api/openapi-ts';

import { isNumeric, items, members } from './json.ts';

type Resolvers = Plugins.HeyApiTypeScript.Resolvers;

/**
 * An enumeration that may gain values: `'OK' | 'LOCK' | (string & {})`. With `| string` instead, the compiler would forget the
 * known values, and editors would not complete them.
 */
export const openEnumeration: NonNullable<Resolvers['union']> = ({ $, schemas, childResults }) => {
  const isOpen = schemas.map(({ type, const: value }) => type === 'string' && value === undefined);
  const hasKnown = schemas.some(({ type, const: value }) => type === 'enum' || typeof value === 'string');
  if (!hasKnown || !isOpen.includes(true)) return undefined;
  const known = childResults.filter((_, index) => !isOpen[index]).map(({ type }) => type);
  return $.type.or(...known, $.type.and($.type('string'), $.type.object()));
};

/**
 * A text that may also be given as a number, an amount or an identifier of digits, or as an object (`x-pairs`). The document has such texts in
 * requests alone.
 */
export const textOrValue: NonNullable<Resolvers['string']> = ({ $, schema }) => {
  if (isNumeric(schema.pattern)) return $.type.or($.type('string'), $.type('number'));
  if (Reflect.get(schema, 'x-pairs') !== true) return undefined;
  return $.type.or($.type('string'), $.type('Readonly').generic($.type('Record').generics($.type('string'), $.type('string'))));
};

/** Remarks that the bundle adds about the origin of a part. Users of the client have never seen the text that they refer to. */
const REMARK = /\n*\*[^*\n]*\b(?:specification|our choice|Inferred)\b[^*\n]*\*\s*$/;

/** Removes the failures of each operation: errors have classes of their own, so nobody names the types that the generator would give them. */
export function dropFailures({ paths }: { readonly paths?: object }): void {
  for (const item of Object.values(paths ?? {}))
    for (const operation of Object.values(Object(item))) {
      const { responses } = Object(operation);
      for (const status of Object.keys(responses ?? {})) if (Number(status) >= 400) delete responses[status];
    }
}

/** Takes the remarks about the origin of parts out of all descriptions. */
export function dropRemarks(node: unknown): void {
  if (typeof node !== 'object' || node === null) return;
  if ('description' in node && typeof node.description === 'string') {
    const text = node.description.replace(REMARK, '');
    if (text === '') delete node.description;
    else node.description = text;
  }
  for (const child of Array.isArray(node) ? items(node) : Object.values(members(node))) dropRemarks(child);
}
