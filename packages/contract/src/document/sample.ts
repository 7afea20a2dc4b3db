import { DocumentError, resolve } from './document.ts';
import type { OpenApiDocument } from './document.ts';
import { isObject, member } from './json.ts';
import type { JsonObject } from './json.ts';
import { textForPattern } from './pattern-text.ts';
import { patternOf } from './pattern.ts';
import { joinPointer, valueAt } from './pointer.ts';
import { isReadOnly } from './schema.ts';
import type { Validator } from './validator.ts';

/** The source of sample values. */
export interface SampleSource {
  readonly document: OpenApiDocument;
  readonly validator: Validator;
}

/** A valid value of a schema. */
export interface SampleValue {
  readonly value: unknown;
  /** Whether the document contains the whole value, as example, default or enumeration; else parts of it are generated. */
  readonly isFromDocument: boolean;
}

const MAX_DEPTH = 8;
const MADE_UP_TEXTS = [
  'contract-test',
  'contracttest',
  'test',
  'a',
  'A',
  'AB',
  'ABC',
  'EUR',
  'en',
  'DE',
  'a1',
  'A1',
  '1',
  '12',
  '123',
  '1234',
  '12345',
  '123456',
  '12345678',
  '0000000000',
  '1.00',
  '+4930123456',
  'abcdefghijklmnopqrstuvwx',
  '0123456789abcdef0123456789abcdef',
];

const BY_FORMAT: Readonly<Record<string, string>> = {
  'date-time': '2026-01-31T09:30:00Z',
  date: '2026-01-31',
  time: '09:30:00Z',
  duration: 'P1D',
  uuid: '3f1d0c4e-9a4b-4c6e-8a55-2b6a1f0c7d11',
  email: 'contract-test@example.com',
  'idn-email': 'contract-test@example.com',
  hostname: 'contract-test.example.com',
  'idn-hostname': 'contract-test.example.com',
  uri: 'https://example.com/contract-test',
  url: 'https://example.com/contract-test',
  iri: 'https://example.com/contract-test',
  'uri-reference': '/contract-test',
  ipv4: '192.0.2.10',
  ipv6: '2001:db8::10',
  byte: 'Y29udHJhY3Q=',
  password: 'Contract-Test-1!',
};

/**
 * Finds a valid value of the schema at a pointer: an example, a constant, the default or a listed value of the document, else a generated
 * one.
 * @returns undefined when no valid value was found
 */
export function sampleOf(source: SampleSource, pointer: string): SampleValue | undefined {
  const built = buildValue(source, pointer, 0);
  return built !== undefined && fits(source, pointer, built.value) ? built : undefined;
}

/** The first valid value of several. */
export function firstFitting(source: SampleSource, pointer: string | undefined, values: readonly unknown[]): SampleValue | undefined {
  const index = values.findIndex((value) => pointer === undefined || fits(source, pointer, value));
  return index < 0 ? undefined : { value: values[index], isFromDocument: true };
}

/** Whether a value is valid. A schema that cannot be compiled alone accepts it, because the whole value is validated later. */
function fits({ validator }: SampleSource, pointer: string, value: unknown): boolean {
  try {
    return validator.compile(pointer)(value).length === 0;
  } catch (error) {
    if (error instanceof DocumentError) return true;
    throw error;
  }
}

function buildValue(source: SampleSource, pointer: string, depth: number): SampleValue | undefined {
  const written = valueAt(source.document, pointer);
  if (typeof written === 'boolean') return written ? { value: 'contract-test', isFromDocument: false } : undefined;
  if (!isObject(written) || depth > MAX_DEPTH) return undefined;
  const given = firstFitting(source, pointer, valuesIn(written));
  if (given !== undefined) return given;
  const isReference = member(written, '$ref') !== undefined;
  if (isReference) {
    const { pointer: target } = resolve(source.document, pointer);
    const followed = buildValue(source, target, depth + 1);
    if (followed !== undefined && fits(source, pointer, followed.value)) return followed;
  }
  return candidates(source, pointer, written, depth).find(({ value }) => fits(source, pointer, value));
}

/** The examples, constants, defaults and listed values of a schema object. */
function valuesIn(schema: JsonObject): readonly unknown[] {
  const examples = member(schema, 'examples');
  const listed = member(schema, 'enum');
  return [
    ...(Array.isArray(examples) ? examples : []),
    ...['example', 'const', 'default'].filter((name) => Object.hasOwn(schema, name)).map((name) => schema[name]),
    ...(Array.isArray(listed) ? listed : []),
  ];
}

function candidates(source: SampleSource, pointer: string, schema: JsonObject, depth: number): readonly SampleValue[] {
  const branches = (['oneOf', 'anyOf'] as const).flatMap((keyword) => sampleBranches(source, pointer, schema, keyword, depth));
  const all = sampleBranches(source, pointer, schema, 'allOf', depth);
  const own = plainCandidates(source, pointer, schema, depth);
  const combined =
    all.length === 0
      ? own
      : own.concat(
          mergedAll(all),
          own.map((one) => mergedAll([...all, one])),
        );
  const withBranch = branches.flatMap((branch) => [branch, ...combined.map((one) => mergedAll([one, branch]))]);
  return [...combined, ...withBranch];
}

function sampleBranches(
  source: SampleSource,
  pointer: string,
  schema: JsonObject,
  keyword: 'allOf' | 'anyOf' | 'oneOf',
  depth: number,
): readonly SampleValue[] {
  const written = member(schema, keyword);
  if (!Array.isArray(written)) return [];
  return written.map((_, index) => buildValue(source, joinPointer(pointer, keyword, index), depth + 1)).filter((one) => one !== undefined);
}

/** Merges objects; for other values, takes the last. */
function mergedAll(samples: readonly SampleValue[]): SampleValue {
  const isFromDocument = samples.every((sample) => sample.isFromDocument);
  const objects = samples.map(({ value }) => value).filter(isObject);
  return objects.length === samples.length
    ? { value: Object.assign({}, ...objects), isFromDocument }
    : { value: samples.at(-1)?.value, isFromDocument };
}

function plainCandidates(source: SampleSource, pointer: string, schema: JsonObject, depth: number): readonly SampleValue[] {
  function madeUp(value: unknown): SampleValue {
    return { value, isFromDocument: false };
  }
  const type = member(schema, 'type');
  const types = Array.isArray(type) ? type : type === undefined ? impliedTypes(schema) : [type];
  return types.flatMap((name): readonly SampleValue[] => {
    switch (name) {
      case 'string':
        return textsFor(schema).map(madeUp);
      case 'integer':
      case 'number':
        return numbersFor(schema).map(madeUp);
      case 'boolean':
        return [madeUp(true), madeUp(false)];
      case 'array':
        return listsFor(source, pointer, schema, depth);
      case 'object':
        return objectsFor(source, pointer, schema, depth);
      default:
        return [];
    }
  });
}

function impliedTypes(schema: JsonObject): readonly string[] {
  if (isObject(schema['properties']) || schema['additionalProperties'] !== undefined) return ['object'];
  if (schema['items'] !== undefined) return ['array'];
  if (['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'].some((name) => schema[name] !== undefined))
    return ['number'];
  return ['string', 'object', 'integer'];
}

function textsFor({ format, minLength, maxLength, pattern }: JsonObject): readonly string[] {
  const byFormat = typeof format === 'string' ? BY_FORMAT[format] : undefined;
  const min = typeof minLength === 'number' ? minLength : 0;
  const max = typeof maxLength === 'number' ? maxLength : Infinity;
  const texts = MADE_UP_TEXTS.map((text) => text.padEnd(min, 'x').slice(0, Math.max(min, Math.min(max, text.length))));
  const matches = typeof pattern === 'string' ? patternOf(pattern) : undefined;
  const ofPattern = typeof pattern === 'string' ? [textForPattern(pattern) ?? '', ...textsLike(pattern, ['0', 'a', 'A'])] : [];
  return [...(byFormat === undefined ? [] : [byFormat]), ...texts, ...ofPattern, 'x'.repeat(Math.min(min, 10_000))].filter(
    (text) => matches === undefined || matches.test(text),
  );
}

/** The maximum number of repetitions of a character after the literal prefix of a pattern. */
const MAX_RUN_LENGTH = 64;

/** Strings with the literal prefix of a pattern, such as `m-` for `^m-[0-9]+$`, followed by a repeated character, the shortest first. */
export function textsLike(pattern: string, characters: readonly string[], minRunLength = 1): readonly string[] {
  const prefix = prefixOf(pattern);
  const lengths = Array.from({ length: MAX_RUN_LENGTH - minRunLength + 1 }, (_, index) => index + minRunLength);
  return lengths.flatMap((length) => characters.map((character) => prefix + character.repeat(length)));
}

/** The literal prefix of a pattern. */
export function prefixOf(pattern: string): string {
  const [, beginning = ''] = /^\^((?:[\w/:@#~%&=!,; -]|\\[-_./:])*)(?![*+?{])/.exec(pattern) ?? [];
  return beginning.replaceAll('\\', '');
}

function numbersFor({ minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf }: JsonObject): readonly number[] {
  const step = typeof multipleOf === 'number' && multipleOf > 0 ? multipleOf : 1;
  const min = typeof minimum === 'number' ? minimum : typeof exclusiveMinimum === 'number' ? exclusiveMinimum + step : undefined;
  const max = typeof maximum === 'number' ? maximum : typeof exclusiveMaximum === 'number' ? exclusiveMaximum - step : undefined;
  const all = [1, min, max, step, 0, min === undefined ? undefined : Math.ceil(min / step) * step];
  return all.filter((value) => value !== undefined);
}

function listsFor(source: SampleSource, pointer: string, schema: JsonObject, depth: number): readonly SampleValue[] {
  const min = typeof schema['minItems'] === 'number' ? schema['minItems'] : 0;
  if (min === 0) return [{ value: [], isFromDocument: false }];
  const item = isObject(schema['items'])
    ? buildValue(source, joinPointer(pointer, 'items'), depth + 1)
    : { value: 'a', isFromDocument: false };
  return item === undefined ? [] : [{ value: Array.from({ length: min }, () => item.value), isFromDocument: item.isFromDocument }];
}

/** An object with the required properties, and one with all properties for which the document has values. */
function objectsFor(source: SampleSource, pointer: string, schema: JsonObject, depth: number): readonly SampleValue[] {
  const properties = isObject(schema['properties']) ? Object.keys(schema['properties']) : [];
  const required = Array.isArray(schema['required']) ? schema['required'].filter((name) => typeof name === 'string') : [];
  function sampleFor(name: string): SampleValue | undefined {
    return properties.includes(name)
      ? buildValue(source, joinPointer(pointer, 'properties', name), depth + 1)
      : { value: 'contract-test', isFromDocument: false };
  }
  const needed = required.map((name) => [name, sampleFor(name)] as const);
  const known = needed.filter((entry): entry is readonly [string, SampleValue] => entry[1] !== undefined);
  const isWhole = known.length === needed.length;
  if (!isWhole) return [];
  const smallest = objectOf(known);
  const optionalNames = properties.filter(
    (name) => !required.includes(name) && !isReadOnly(source.document, joinPointer(pointer, 'properties', name)),
  );
  const optional = optionalNames
    .map((name) => [name, sampleFor(name)] as const)
    .filter((entry): entry is readonly [string, SampleValue] => entry[1]?.isFromDocument === true);
  const plain = optional.length === 0 ? [smallest] : [smallest, objectOf([...known, ...optional])];
  // Rules about which properties there are, such as `minProperties` or `anyOf` of `required`.
  if (!RULES_OF_PRESENCE.some((keyword) => schema[keyword] !== undefined)) return plain;
  const others = optionalNames.flatMap((name): readonly (readonly [string, SampleValue])[] => {
    const sample = sampleFor(name);
    return sample === undefined ? [] : [[name, sample]];
  });
  return [...plain, ...others.map((one) => objectOf([...known, one])), objectOf([...known, ...others])];
}

const RULES_OF_PRESENCE = ['minProperties', 'anyOf', 'oneOf', 'not', 'dependentRequired', 'if'];

function objectOf(entries: readonly (readonly [string, SampleValue])[]): SampleValue {
  return {
    value: Object.fromEntries(entries.map(([name, { value }]) => [name, value])),
    isFromDocument: entries.every(([, { isFromDocument }]) => isFromDocument),
  };
}
