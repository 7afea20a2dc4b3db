/** Values that follow a schema of a document, and values that almost do. */
import fc from 'fast-check';

type Json = Readonly<Record<string, unknown>>;

const MAX_DEPTH = 5;
const NOTHING: Json = {};

const ODD_NUMBERS = [0, -1, 1.5, 2 ** 31, 2 ** 53, -(2 ** 63), 1e308];
/** Texts that programs treat specially. */
const ODD_WORDS = ['', ' ', '\u0000', '\ud800', '\u202e', '-1', '1e3', '0x10', 'NaN', '__proto__', 'constructor'];
const ODD_TEXTS = ["' or 1=1; --", '../../etc/passwd', '%00', '${x}', '9'.repeat(400), 'ß'.repeat(300), 'x'.repeat(20_000)];
const ODD_STRUCTURES = [null, true, false, [], {}, [[]], [null], { constructor: { prototype: 1 } }];

/** Values that break most rules. */
export const hostile: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(...ODD_NUMBERS, ...ODD_WORDS, ...ODD_TEXTS, ...ODD_STRUCTURES),
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.string({ unit: 'grapheme', maxLength: 40 }),
  fc.jsonValue({ maxDepth: 2 }),
);

/** Values of a schema. `spoilt` values have something hostile at one place. */
export interface Values {
  valid(schema: unknown): fc.Arbitrary<unknown>;
  spoilt(schema: unknown): fc.Arbitrary<unknown>;
}

/** @param document The document that the references of its schemas point into. */
export function valuesOf(document: unknown): Values {
  function resolved(schema: unknown): Json {
    if (!isObject(schema)) return NOTHING;
    const { $ref, allOf, ...rest } = schema;
    let merged: Json = rest;
    if (typeof $ref === 'string') merged = merge(resolved(at(document, $ref.slice(2))), merged);
    if (Array.isArray(allOf)) merged = allOf.map(resolved).reduce(merge, merged);
    return merged;
  }

  function valid(given: unknown, depth = 0): fc.Arbitrary<unknown> {
    const schema = resolved(given);
    const { anyOf, oneOf, enum: listed, const: only, examples, default: usual } = schema;
    if (only !== undefined) return fc.constant(only);
    if (Array.isArray(listed)) return fc.constantFrom(...listed);
    const branches = Array.isArray(anyOf) ? anyOf : oneOf;
    if (Array.isArray(branches) && depth < MAX_DEPTH) return fc.oneof(...branches.map((branch) => valid(branch, depth + 1)));
    const typed = ofType(schema, depth);
    const shown = [...(Array.isArray(examples) ? examples : []), ...(usual === undefined ? [] : [usual])];
    return shown.length === 0 ? typed : fc.oneof(fc.constantFrom(...shown), typed);
  }

  function ofType(schema: Json, depth: number): fc.Arbitrary<unknown> {
    const types = Array.isArray(schema['type']) ? schema['type'] : [schema['type'] ?? (schema['properties'] ? 'object' : 'string')];
    return fc.oneof(...types.map((type) => ofOneType(String(type), schema, depth)));
  }

  function ofOneType(type: string, schema: Json, depth: number): fc.Arbitrary<unknown> {
    switch (type) {
      case 'null':
        return fc.constant(null);
      case 'boolean':
        return fc.boolean();
      case 'integer':
      case 'number': {
        const min = numberOf(schema['minimum'], 0);
        const max = Math.max(min, numberOf(schema['maximum'], min + 100_000));
        const step = numberOf(schema['multipleOf'], 1);
        return fc.oneof(
          fc.constantFrom(min, max),
          fc.integer({ min: Math.ceil(min / step), max: Math.floor(max / step) }).map((count) => count * step),
        );
      }
      case 'array': {
        const minLength = numberOf(schema['minItems'], 0);
        return fc.array(valid(schema['items'], depth + 1), { minLength, maxLength: Math.max(minLength, 3) });
      }
      case 'object':
        return objects(schema, depth);
      default:
        return texts(schema);
    }
  }

  function texts({ pattern, format, minLength: min, maxLength: max }: Json): fc.Arbitrary<unknown> {
    const minLength = numberOf(min, 0);
    const maxLength = Math.min(numberOf(max, minLength + 30), 60);
    if (format === 'date-time')
      return fc.date({ min: new Date('2020-01-01'), max: new Date('2035-01-01'), noInvalidDate: true }).map((date) => date.toISOString());
    if (format === 'date') return fc.date({ noInvalidDate: true }).map((date) => date.toISOString().slice(0, 10));
    if (format === 'email') return fc.emailAddress();
    if (format === 'uri') return fc.webUrl();
    if (format === 'uuid') return fc.uuid();
    if (typeof pattern === 'string') return fc.stringMatching(new RegExp(pattern));
    return fc.string({ minLength, maxLength: Math.max(minLength, maxLength) });
  }

  function objects({ properties, required, additionalProperties }: Json, depth: number): fc.Arbitrary<unknown> {
    const members = isObject(properties) ? Object.entries(properties) : [];
    if (members.length === 0 && isObject(additionalProperties))
      return fc.dictionary(fc.stringMatching(/^[a-z][a-z0-9_]{1,12}$/), valid(additionalProperties, depth + 1), { maxKeys: 3 });
    const needed = Array.isArray(required) ? required.map(String) : [];
    const named = Object.fromEntries(members.map(([name, member]) => [name, valid(member, depth + 1)]));
    return fc.record(named, { requiredKeys: needed.filter((name) => name in named) });
  }

  return {
    valid: (schema) => valid(schema),
    spoilt: (schema) =>
      fc.tuple(valid(schema), fc.array(fc.nat(), { maxLength: 4 }), hostile).map(([value, way, bad]) => spoil(value, way, bad)),
  };
}

/** Puts a value at a place, adds it as an unknown member, or removes what is there. */
function spoil(value: unknown, [turn, ...rest]: readonly number[], bad: unknown): unknown {
  if (turn === undefined) return bad;
  if (Array.isArray(value))
    return value.length === 0 ? [bad] : value.with(turn % value.length, spoil(value[turn % value.length], rest, bad));
  if (!isObject(value)) return bad;
  const names = Object.keys(value);
  const name = names[turn % (names.length + 1)];
  if (name === undefined) return { ...value, not_a_member: bad };
  if (turn % 7 === 0) return Object.fromEntries(Object.entries(value).filter(([other]) => other !== name));
  return { ...value, [name]: spoil(value[name], rest, bad) };
}

function merge(one: Json, other: Json): Json {
  const [mine, theirs] = [one['properties'], other['properties']];
  return {
    ...one,
    ...other,
    ...(isObject(mine) && isObject(theirs) && { properties: { ...mine, ...theirs } }),
    ...(Array.isArray(one['required']) && Array.isArray(other['required']) && { required: [...one['required'], ...other['required']] }),
  };
}

function at(document: unknown, pointer: string): unknown {
  return pointer
    .split('/')
    .map((token) => decodeURIComponent(token).replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce<unknown>((value, token) => (isObject(value) ? value[token] : undefined), document);
}

function numberOf(value: unknown, otherwise: number): number {
  return typeof value === 'number' ? value : otherwise;
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
