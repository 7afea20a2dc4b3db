import type { OpenApiDocument } from '../document/document.ts';
import { readCoercion, readFields } from '../document/form-fields.ts';
import { isObject, member } from '../document/json.ts';
import type { FormField, Operation, Parameter, RequestBody } from '../document/operation.ts';
import { isCredential, isIgnorable, isSpread, issuesOfText } from '../document/parameters.ts';
import type { RequestParameters } from '../document/parameters.ts';
import { pathParameters } from '../document/path-template.ts';
import { isReadOnly, schemaNodes } from '../document/schema.ts';
import type { Validator } from '../document/validator.ts';
import { readBody, writeBody } from './body.ts';

/** The fields of a body that breaks exactly one rule. */
export interface BrokenForm {
  readonly values: Readonly<Record<string, unknown>>;
  /** A description of the mistake: "cores below its minimum". */
  readonly detail: string;
  /** The invalid field; empty when it is not a described one. */
  readonly field: string;
}

type Values = Readonly<Record<string, unknown>>;

/**
 * Changes a valid form so that it breaks one rule of the document, once for each rule. The seed determines the order. The
 * validator confirms that each form is invalid.
 */
export function brokenForms(
  parts: { readonly document: OpenApiDocument; readonly validator: Validator; readonly seed: number },
  operation: Operation,
  valid: Values,
): readonly BrokenForm[] {
  const { body } = operation;
  if (body === undefined) return [];
  const made: BrokenForm[] = [];
  for (const field of body.fields.values()) {
    if (field.required)
      made.push({ values: { ...valid, [field.name]: undefined }, detail: `without the required field ${field.name}`, field: field.name });
    for (const [value, what] of wrongValues(parts.document, field, body.format))
      made.push({ values: { ...valid, [field.name]: value }, detail: `${field.name} ${what}`, field: field.name });
  }
  for (const field of body.fields.values()) made.push(...brokenBelow(parts.document, field, valid));
  made.push({ values: { ...valid, not_a_field: 'x' }, detail: 'an unknown field', field: '' });
  const forResponses = [...body.fields.values()].filter((field) => isReadOnly(parts.document, field.pointer));
  const needs = isObject(body.schema) ? member(body.schema, 'dependentRequired') : undefined;
  if (isObject(needs)) for (const name of Object.keys(needs)) made.push(...withoutDependents(valid, name, needs[name]));
  const check = parts.validator.compile(body.pointer);
  const broken = made.filter(({ values }) => {
    const reading = readBody(operation, writeBody(operation, values));
    return reading.issues.length > 0 || check(reading.values).length > 0;
  });
  return [
    ...shuffled(broken, parts.seed),
    ...forResponses.map(({ name }) => ({
      values: { ...valid, [name]: 'contract-test' },
      detail: `${name}, which is only for responses`,
      field: name,
    })),
  ];
}

/** Breaks the rules of the properties of an object in the body, such as a JSON part of a form with files. */
function brokenBelow(document: OpenApiDocument, { name, kind, pointer }: FormField, valid: Values): readonly BrokenForm[] {
  const inner = valid[name];
  if (kind !== 'json' || !isObject(inner)) return [];
  return [...readFields(document, pointer, {}).values()].flatMap((field) => {
    const wrong = wrongValues(document, field, 'json').map(([value, what]) => ({ value, what: `${name}.${field.name} ${what}` }));
    const missing = field.required ? [{ value: undefined, what: `${name} without its required ${field.name}` }] : [];
    return [...missing, ...wrong].map(({ value, what }) => ({
      values: { ...valid, [name]: { ...inner, [field.name]: value } },
      detail: what,
      field: name,
    }));
  });
}

function withoutDependents(valid: Values, name: string, needed: unknown): readonly BrokenForm[] {
  if (!Array.isArray(needed)) return [];
  const left = Object.fromEntries(Object.entries(valid).filter(([key]) => !needed.includes(key)));
  return [
    { values: { ...left, [name]: member(valid, name) ?? 'x.example.org' }, detail: `${name} without ${needed.join(' and ')}`, field: name },
  ];
}

/** The parameters of a request, one of which breaks exactly one rule. */
export interface BrokenParameters {
  readonly parameters: RequestParameters;
  /** The broken path parameter; undefined when another parameter is broken. */
  readonly path?: Readonly<Record<string, string>>;
  /** A description of the mistake: "the query parameter limit above its maximum". */
  readonly detail: string;
}

/**
 * Changes valid parameters so that one of the query, the headers, the cookies or the path breaks one rule of the document, once for each rule.
 * The seed determines the order.
 */
export function brokenParameters(
  { document, validator, seed }: { readonly document: OpenApiDocument; readonly validator: Validator; readonly seed: number },
  operation: Operation,
  valid: RequestParameters,
): readonly BrokenParameters[] {
  const made: BrokenParameters[] = [];
  for (const parameter of operation.parameters) {
    const { name, in: place, pointer, required } = parameter;
    if (pointer === undefined || isCredential(operation, parameter) || isIgnorable(parameter)) continue;
    if (isSpread(document, parameter)) continue;
    if (place === 'path' && pathParameters(operation.path).length !== 1) continue;
    if (required && place !== 'path')
      made.push({ ...withParameter(valid, parameter, undefined), detail: `without the required ${NOUNS[place]} ${name}` });
    const field = { pointer, ...readCoercion(document, schemaNodes(document, pointer), undefined) };
    for (const [value, what] of wrongValues(document, field, 'form')) {
      const text = String(value);
      // A header carries visible ASCII only, and an empty segment makes another path.
      const isSendable = place === 'header' ? /^[ -~]+$/.test(text) : place !== 'path' || text !== '';
      if (isSendable && issuesOfText(validator.compile(pointer), text).length > 0)
        made.push({ ...withParameter(valid, parameter, text), detail: `the ${NOUNS[place]} ${name} ${what}` });
    }
  }
  return shuffled(made, seed);
}

const NOUNS = { query: 'query parameter', header: 'header', cookie: 'cookie', path: 'path parameter' } as const;

function withParameter(
  valid: RequestParameters,
  { name, in: place }: Parameter,
  text: string | undefined,
): Omit<BrokenParameters, 'detail'> {
  const given = text === undefined ? {} : { [name]: text };
  function without(values: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
    return Object.fromEntries(Object.entries(values).filter(([other]) => other !== name));
  }
  switch (place) {
    case 'header':
      return { parameters: { ...valid, headers: { ...without(valid.headers), ...given } } };
    case 'cookie':
      return { parameters: { ...valid, cookies: { ...without(valid.cookies), ...given } } };
    case 'path':
      return { parameters: valid, path: given };
    default:
      return { parameters: { ...valid, query: [...valid.query.filter(([other]) => other !== name), ...Object.entries(given)] } };
  }
}

/** Text that a service misreads when it counts bytes or expects ASCII. */
const NON_ASCII = 'ünïcødé ✓ 漢字';

function wrongValues(
  document: OpenApiDocument,
  field: Pick<FormField, 'pointer' | 'kind'>,
  format: RequestBody['format'],
): readonly (readonly [unknown, string])[] {
  const schema = Object.assign(
    {},
    ...schemaNodes(document, field.pointer)
      .map((node) => node.schema)
      .toReversed(),
  );
  const isText = field.kind === 'string';
  const found: (readonly [unknown, string])[] = [...wrongTypes(field, format)];
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, minLength, maxLength, pattern, format: kind, enum: listed } = schema;
  if (typeof minimum === 'number') found.push([minimum - 1, 'below its minimum']);
  if (typeof maximum === 'number') found.push([maximum + 1, 'above its maximum']);
  if (typeof exclusiveMinimum === 'number') found.push([exclusiveMinimum, 'at its exclusive minimum']);
  if (typeof exclusiveMaximum === 'number') found.push([exclusiveMaximum, 'at its exclusive maximum']);
  if (Array.isArray(listed)) found.push([isText ? 'contract-test-no-such-value' : 987_654_321, 'outside its list of values']);
  if (!isText) return found;
  if (typeof minLength === 'number' && minLength > 0) found.push(['x'.repeat(minLength - 1), 'shorter than allowed']);
  if (typeof maxLength === 'number' && maxLength < 10_000) found.push(['x'.repeat(maxLength + 1), 'longer than allowed']);
  if (typeof pattern === 'string') found.push(['!', 'against its pattern']);
  if (typeof kind === 'string') found.push(['not of this kind', `not of the format ${kind}`]);
  if (typeof pattern === 'string' || typeof kind === 'string' || Array.isArray(listed))
    found.push([NON_ASCII, 'with characters that are not ASCII']);
  return found;
}

/** Values of another type. A form has only strings; in JSON a value can have any type. */
function wrongTypes({ kind }: Pick<FormField, 'kind'>, format: RequestBody['format']): readonly (readonly [unknown, string])[] {
  const inJson = format === 'json';
  switch (kind) {
    case 'integer':
      return [['many', 'as a word instead of a number'], ...(inJson ? ([[1.5, 'as a fraction instead of an integer']] as const) : [])];
    case 'number':
      return [['many', 'as a word instead of a number']];
    case 'boolean':
      return [['perhaps', 'as a word instead of true or false']];
    case 'array':
    case 'json':
      return inJson ? [['text', `as a text instead of ${kind === 'array' ? 'a list' : 'an object'}`]] : [];
    default:
      return inJson ? [[7, 'as a number instead of a text']] : [];
  }
}

/** Shuffles in an order that the seed determines (mulberry32). */
function shuffled<Item>(items: readonly Item[], seed: number): readonly Item[] {
  let state = seed >>> 0;
  function nextRandom(): number {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }
  return items
    .map((item) => ({ item, rank: nextRandom() }))
    .toSorted((one, other) => one.rank - other.rank)
    .map(({ item }) => item);
}
