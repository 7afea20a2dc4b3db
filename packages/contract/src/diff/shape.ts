import { referencePointer } from '../document/document.ts';
import type { OpenApiDocument } from '../document/document.ts';
import { isObject, member } from '../document/json.ts';
import type { JsonObject } from '../document/json.ts';
import { joinPointer, valueAt } from '../document/pointer.ts';
import { keysOf } from '../document/schema.ts';

/** A schema object that applies to a value unconditionally. */
interface ShapePart {
  readonly pointer: string;
  readonly schema: JsonObject;
}

/** All schemas that apply to a value unconditionally: a schema, its references, and the parts of its `allOf`. */
export interface Shape {
  readonly document: OpenApiDocument;
  readonly parts: readonly ShapePart[];
  /** False where the schema is `false`: no value is allowed. */
  readonly allowsAny: boolean;
}

/** The shape of the schema at a pointer. */
export function shapeAt(document: OpenApiDocument, ...pointers: readonly string[]): Shape {
  const parts = new Map<string, ShapePart>();
  let allowsAny = true;
  function addPart(pointer: string): void {
    if (parts.has(pointer)) return;
    const schema = valueAt(document, pointer);
    if (schema === false) allowsAny = false;
    if (!isObject(schema)) return;
    parts.set(pointer, { pointer, schema });
    const reference = member(schema, '$ref');
    if (reference !== undefined) addPart(referencePointer(reference, pointer));
    const all = member(schema, 'allOf');
    if (Array.isArray(all)) all.forEach((_, index) => addPart(joinPointer(pointer, 'allOf', index)));
  }
  for (const pointer of pointers) addPart(pointer);
  return { document, parts: [...parts.values()], allowsAny };
}

/** The value of a keyword in the topmost schema that has it. */
export function keywordOf({ parts }: Shape, keyword: string): unknown {
  return parts.map(({ schema }) => schema[keyword]).find((value) => value !== undefined);
}

/** All values of a keyword. */
export function keywordsOf({ parts }: Shape, keyword: string): readonly unknown[] {
  return parts.map(({ schema }) => schema[keyword]).filter((value) => value !== undefined);
}

export function propertyNames({ parts }: Shape): ReadonlySet<string> {
  return new Set(parts.flatMap(({ schema }) => keysOf(schema, 'properties')));
}

export function requiredNames(shape: Shape): ReadonlySet<string> {
  return new Set(
    keywordsOf(shape, 'required').flatMap((names) => (Array.isArray(names) ? names.filter((name) => typeof name === 'string') : [])),
  );
}

export function propertyShape({ document, parts }: Shape, name: string): Shape {
  const pointers = parts
    .filter(({ schema }) => keysOf(schema, 'properties').includes(name))
    .map(({ pointer }) => joinPointer(pointer, 'properties', name));
  return shapeAt(document, ...pointers);
}

/** The shape below a keyword that holds one schema, such as `items`; undefined where no part has it. */
export function shapeBelow({ document, parts }: Shape, keyword: string): Shape | undefined {
  const pointers = parts
    .filter(({ schema }) => isObject(schema[keyword]) || typeof schema[keyword] === 'boolean')
    .map(({ pointer }) => joinPointer(pointer, keyword));
  return pointers.length === 0 ? undefined : shapeAt(document, ...pointers);
}

/** The shapes of the alternatives of `anyOf` or `oneOf`. */
export function branchesOf({ document, parts }: Shape, keyword: 'anyOf' | 'oneOf'): readonly Shape[] {
  return parts.flatMap(({ pointer, schema }) => {
    const branches = schema[keyword];
    return Array.isArray(branches) ? branches.map((_, index) => shapeAt(document, joinPointer(pointer, keyword, index))) : [];
  });
}

/** The JSON types that a value may have; empty when the schema does not restrict them. `number` includes `integer`. */
export function typesOfShape(shape: Shape): ReadonlySet<string> {
  const sets = keywordsOf(shape, 'type').map((type) => new Set((Array.isArray(type) ? type : [type]).map(String)));
  const [first, ...others] = sets;
  const types = [...(first ?? [])].filter((type) =>
    others.every((other) => other.has(type) || (type === 'integer' && other.has('number'))),
  );
  return new Set(types.includes('number') ? types.filter((type) => type !== 'integer') : types);
}

/** Whether the schema forbids further properties. */
export function isClosed(shape: Shape): boolean {
  return [...keywordsOf(shape, 'additionalProperties'), ...keywordsOf(shape, 'unevaluatedProperties')].includes(false);
}

/** The pointer at which a reader looks for a change: the last part with properties, or else the last that is not a reference. */
export function ownerOf({ parts }: Shape): string {
  const owner =
    parts.findLast(({ schema }) => keysOf(schema, 'properties').length > 0) ??
    parts.findLast(({ schema }) => schema['$ref'] === undefined) ??
    parts[0];
  return owner?.pointer ?? '';
}

/** A key for a shape, with which recursion ends. */
export function keyOf({ parts }: Shape): string {
  return parts.map(({ pointer }) => pointer).join(' ');
}

/** Keywords that do not restrict values. */
const TEXT_KEYWORDS: ReadonlySet<string> = new Set([
  'title',
  'description',
  'examples',
  'example',
  'deprecated',
  'externalDocs',
  'xml',
  '$comment',
  '$schema',
  '$id',
  '$anchor',
  '$defs',
  'definitions',
]);

export function isText(keyword: string): boolean {
  return TEXT_KEYWORDS.has(keyword) || keyword.startsWith('x-');
}

/** Serialises a schema so that equivalent schemas give the same text: follows references, ignores documentation and the order of members. */
export function canonical(document: OpenApiDocument, value: unknown, seen: readonly string[] = []): string {
  if (Array.isArray(value)) return `[${value.map((item) => canonical(document, item, seen)).join(',')}]`;
  if (!isObject(value)) return JSON.stringify(value) ?? 'undefined';
  const reference = member(value, '$ref');
  if (typeof reference === 'string' && reference.startsWith('#')) {
    const pointer = referencePointer(reference, '');
    if (seen.includes(pointer)) return `"recursive ${seen.length - seen.indexOf(pointer)}"`;
    const { $ref: _, ...siblings } = value;
    const target = canonical(document, valueAt(document, pointer), [...seen, pointer]);
    return Object.keys(siblings).some((keyword) => !isText(keyword))
      ? `{"$ref":${target},${canonical(document, siblings, seen).slice(1)}`
      : target;
  }
  // A property can have the name `title`: its value is then a schema, not a string.
  const members = Object.entries(value).filter(([keyword, child]) => !isText(keyword) || isObject(child));
  return `{${members
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(
      ([keyword, child]) =>
        `${JSON.stringify(keyword)}:${canonical(document, keyword === 'required' && Array.isArray(child) ? child.toSorted() : child, seen)}`,
    )
    .join(',')}}`;
}
