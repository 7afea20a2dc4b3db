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

export const ALTERNATIVES = ['anyOf', 'oneOf'] as const;

/** The shape of the schema at a pointer. */
export function shapeAt(document: OpenApiDocument, ...pointers: readonly string[]): Shape {
  return shapeFrom(document, pointers, false);
}

/** The same shape, in which the single alternative besides null is a part of its schema. */
export function unwrapped(shape: Shape): Shape {
  if (!shape.parts.some(({ schema }) => onlyBranch(schema) !== undefined)) return shape;
  const pointers = shape.parts.map(({ pointer }) => pointer);
  return { ...shapeFrom(shape.document, pointers, true), allowsAny: shape.allowsAny };
}

function shapeFrom(document: OpenApiDocument, pointers: readonly string[], isUnwrapped: boolean): Shape {
  const parts = new Map<string, ShapePart>();
  let allowsAny = true;
  function addPart(pointer: string, isNullable: boolean): void {
    if (parts.has(pointer)) return;
    const written = valueAt(document, pointer);
    if (written === false) allowsAny = false;
    if (!isObject(written)) return;
    const only = isUnwrapped ? onlyBranch(written) : undefined;
    const schema = only === undefined ? written : { ...written, [only.keyword]: undefined };
    parts.set(pointer, { pointer, schema: isNullable ? withNull(schema) : schema });
    const reference = member(schema, '$ref');
    if (reference !== undefined) addPart(referencePointer(reference, pointer), isNullable);
    const all = member(schema, 'allOf');
    if (Array.isArray(all)) all.forEach((_, index) => addPart(joinPointer(pointer, 'allOf', index), isNullable));
    if (only !== undefined) addPart(joinPointer(pointer, only.keyword, only.index), isNullable || only.isNullable);
  }
  for (const pointer of pointers) addPart(pointer, false);
  return { document, parts: [...parts.values()], allowsAny };
}

/** The single alternative of a schema besides null. */
function onlyBranch(
  schema: JsonObject,
): { readonly keyword: 'anyOf' | 'oneOf'; readonly index: number; readonly isNullable: boolean } | undefined {
  for (const keyword of ALTERNATIVES) {
    const branches = schema[keyword];
    if (!Array.isArray(branches) || schema['type'] !== undefined) continue;
    const others = branches.flatMap((branch, index) => (isObject(branch) && branch['type'] === 'null' ? [] : [index]));
    const [index, ...more] = others;
    if (index !== undefined && more.length === 0) return { keyword, index, isNullable: branches.length > 1 };
  }
  return undefined;
}

/** A schema that also allows null. */
function withNull(schema: JsonObject): JsonObject {
  const { type, const: constant, enum: listed = constant === undefined ? undefined : [constant] } = schema;
  return {
    ...schema,
    type: type === undefined ? undefined : [...new Set([type, 'null'].flat())],
    const: undefined,
    enum: Array.isArray(listed) ? [...new Set([...listed, null])] : undefined,
  };
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

/** A part of a document: the document, and the value. */
export type DocumentValue = readonly [document: OpenApiDocument, value: unknown];

/**
 * Whether two parts of documents are the same after following references, apart from documentation and the order of members. Schemas that refer
 * to one another are the same when no difference is found on any way through them.
 */
export function isEquivalent(one: DocumentValue, other: DocumentValue): boolean {
  const compared = new Set<string>();
  const waiting: (readonly [one: Followed, other: Followed])[] = [];
  function addPair(first: unknown, second: unknown): void {
    const [left, right] = [followed(one[0], first), followed(other[0], second)];
    const key = `${left.pointer} ${right.pointer}`;
    // Only a place in a schema that is referred to can occur again.
    if (left.pointer !== undefined && right.pointer !== undefined && compared.has(key)) return;
    compared.add(key);
    waiting.push([left, right]);
  }
  addPair(one[1], other[1]);
  for (const [{ value: left }, { value: right }] of waiting) {
    const [first, second] = [comparedMembers(left), comparedMembers(right)];
    if (first === undefined || second === undefined) {
      if (first !== second || left !== right) return false;
      continue;
    }
    if (Array.isArray(left) !== Array.isArray(right) || first.size !== second.size) return false;
    for (const [name, child] of first) {
      if (!second.has(name)) return false;
      addPair(asReference(name, child), asReference(name, second.get(name)));
    }
  }
  return true;
}

interface Followed {
  readonly value: unknown;
  /** The place that the last reference names; undefined without one. */
  readonly pointer: string | undefined;
}

/** Follows a value that is nothing but a reference. */
function followed(document: OpenApiDocument, value: unknown): Followed {
  const seen = new Set<string>();
  let found: Followed = { value, pointer: undefined };
  for (;;) {
    const reference = isObject(found.value) ? member(found.value, '$ref') : undefined;
    if (typeof reference !== 'string' || !reference.startsWith('#') || seen.has(reference)) return found;
    const isAlone = isObject(found.value) && Object.keys(found.value).every((keyword) => keyword === '$ref' || isText(keyword));
    if (!isAlone) return found;
    seen.add(reference);
    const pointer = referencePointer(reference, '');
    found = { value: valueAt(document, pointer), pointer };
  }
}

/** A reference that has siblings is followed like one of them. */
function asReference(name: string, child: unknown): unknown {
  return name === '$ref' && typeof child === 'string' ? { $ref: child } : child;
}

/** The members of an object or list that are compared; undefined for another value. */
function comparedMembers(value: unknown): ReadonlyMap<string, unknown> | undefined {
  if (Array.isArray(value)) return new Map([...value.entries()].map(([index, item]) => [String(index), item]));
  if (!isObject(value)) return undefined;
  // A property can have the name `title`: its value is then a schema, not a string.
  const members = Object.entries(value).filter(([keyword, child]) => !isText(keyword) || isObject(child));
  return new Map(members.map(([keyword, child]) => [keyword, keyword === 'required' && Array.isArray(child) ? child.toSorted() : child]));
}

/** A key for the value of a part without schemas, such as a server: the same for parts that differ only in documentation and order. */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  const members = comparedMembers(value);
  if (members === undefined) return JSON.stringify(value) ?? 'undefined';
  const sorted = [...members].toSorted(([one], [other]) => (one < other ? -1 : 1));
  return `{${sorted.map(([name, child]) => `${JSON.stringify(name)}:${canonical(child)}`).join(',')}}`;
}
