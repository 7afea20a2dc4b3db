/** The shapes of all responses, for `drift`. They are small enough to compare each response with them. */
import { readOperations } from '@reseller/contract';
import type { OpenApiDocument } from '@reseller/contract';

import { follow, items, members, source } from './json.ts';
import type { JsonObject } from './json.ts';

/** `shapes.gen.ts` */
export function writeShapes(document: OpenApiDocument): string {
  const named = new Map<string, unknown>();
  const shapes = new Shapes(document, named);
  const byOperation = readOperations(document).map(({ id, responses }) => [
    id,
    shapes.of(responses['200']?.content['application/json']?.schema),
  ]);
  return [
    `import type { Shape } from '../drift-shape.ts';`,
    '',
    '/** Shapes by the name of their schema. A name as a shape refers to the entry with that name. */',
    'export const SHAPES: Readonly<Record<string, Shape>> = {',
    ...[...named].map(([name, shape]) => `  ${name}: ${source(shape)},`),
    '};',
    '',
    "/** The shape of each operation's response. */",
    `export const OPERATION_SHAPES: Readonly<Record<string, Shape>> = {`,
    ...byOperation.map(([id, shape]) => `  ${String(id)}: ${source(shape)},`),
    '};',
    '',
  ].join('\n');
}

const LETTERS: JsonObject = { string: 's', integer: 'i', number: 'n', boolean: 'b', null: 'z' };

class Shapes {
  readonly #document: unknown;
  readonly #named: Map<string, unknown>;
  constructor(document: unknown, named: Map<string, unknown>) {
    this.#document = document;
    this.#named = named;
  }

  /** A name, the letters of scalar types, or the parts of an object, list or enumeration. */
  of(schema: unknown): unknown {
    const reference = members(schema)['$ref'];
    if (typeof reference === 'string' && Object.keys(members(schema)).length === 1) {
      const name = reference.split('/').at(-1) ?? '';
      if (!this.#named.has(name)) {
        this.#named.set(name, '');
        this.#named.set(name, this.#shape(schema));
      }
      return name;
    }
    return this.#shape(schema);
  }

  #shape(schema: unknown): unknown {
    const parts = this.#parts(schema);
    const values = parts.flatMap((part) => [...items(part['enum']), ...('const' in part ? [part['const']] : [])]);
    const types = new Set(
      parts.flatMap((part) => (Array.isArray(part['type']) ? part['type'] : part['type'] === undefined ? [] : [part['type']])),
    );
    const scalars = [...types].map((type) => LETTERS[String(type)] ?? '').join('');
    const properties = Object.assign({}, ...parts.map((part) => members(part['properties'])));
    const required = new Set(parts.flatMap((part) => items(part['required'])));
    const extra = parts.map((part) => part['additionalProperties']).find((value) => typeof value === 'object');
    const list = parts.map((part) => part['items']).find((value) => typeof value === 'object');
    return {
      or: scalars === '' ? undefined : scalars,
      of:
        Object.keys(properties).length === 0
          ? undefined
          : Object.fromEntries(
              Object.entries(properties).map(([name, property]) => [required.has(name) ? name : `${name}?`, this.of(property)]),
            ),
      each: extra === undefined ? undefined : this.of(extra),
      list: list === undefined ? undefined : this.of(list),
      seen: values.length === 0 ? undefined : values,
    };
  }

  /** A schema, and the schemas of its `allOf`, `anyOf` and `oneOf`. */
  #parts(schema: unknown): readonly JsonObject[] {
    const written = members(schema);
    const own = members(follow(this.#document, schema));
    const below = [...items(own['allOf']), ...items(own['anyOf']), ...items(own['oneOf'])];
    return [...(own === written ? [own] : [written, own]), ...below.flatMap((part) => this.#parts(part))];
  }
}
