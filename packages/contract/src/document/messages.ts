import { isObject } from './json.ts';
import type { JsonObject } from './json.ts';

const TYPE_NAMES: Readonly<Record<string, string>> = {
  string: 'a string',
  integer: 'an integer',
  number: 'a number',
  boolean: 'true or false',
  object: 'an object',
  array: 'a list',
  null: 'null',
};

const FORMAT_NAMES: Readonly<Record<string, string>> = {
  uuid: 'a UUID',
  'date-time': 'a date and time such as 2026-01-31T09:30:00.000Z',
  date: 'a date such as 2026-01-31',
  time: 'a time such as 09:30:00Z',
  uri: 'a URI',
  'uri-reference': 'a URI or relative reference',
  email: 'an e-mail address',
  hostname: 'a hostname',
  ipv4: 'an IPv4 address',
  ipv6: 'an IPv6 address',
  int32: 'an integer of at most 2147483647',
};

/** The expectation of a broken rule, to be read after the name of the field: "must be at least 1". */
export function expectation(keyword: string, params: JsonObject, schema: JsonObject): string {
  const { limit } = params;
  const { 'x-expected': expected } = schema;
  const noun = schema['type'] === 'integer' ? 'an integer of ' : '';
  switch (keyword) {
    case 'required':
      return 'is required';
    case 'dependentRequired':
    case 'dependencies':
      return `is required when ${String(params['property'])} is given`;
    case 'additionalProperties':
    case 'unevaluatedProperties':
      return unknownProperty(schema);
    case 'propertyNames':
      return 'has a name that is not allowed';
    case 'false schema':
      return 'must not be given';
    case 'type':
      return `must be ${typeNames(params['type'])}`;
    case 'enum':
      return `must be one of ${list(params['allowedValues'])}`;
    case 'const':
      return `must be ${JSON.stringify(params['allowedValue'])}`;
    case 'minimum':
      return `must be ${noun}at least ${String(limit)}`;
    case 'maximum':
      return `must be ${noun}at most ${String(limit)}`;
    case 'exclusiveMinimum':
      return `must be ${noun}more than ${String(limit)}`;
    case 'exclusiveMaximum':
      return `must be ${noun}less than ${String(limit)}`;
    case 'multipleOf':
      return `must be a multiple of ${String(params['multipleOf'])}`;
    case 'minLength':
      return limit === 1 ? 'must not be empty' : `must be at least ${String(limit)} characters long`;
    case 'maxLength':
      return `must be at most ${counted(limit, 'character')} long`;
    case 'pattern':
      // `x-expected` describes a regular expression in words.
      return `must ${typeof expected === 'string' ? `be ${expected}` : 'match the pattern in the document'}`;
    case 'format':
      return `must be ${FORMAT_NAMES[String(params['format'])] ?? `of the format ${String(params['format'])}`}`;
    case 'minItems':
      return `must have at least ${counted(limit, 'item')}`;
    case 'maxItems':
      return `must have at most ${counted(limit, 'item')}`;
    case 'uniqueItems':
      return 'must not have the same item twice';
    case 'minProperties':
      return `must have at least ${counted(limit, 'property', 'properties')}`;
    case 'maxProperties':
      return `must have at most ${counted(limit, 'property', 'properties')}`;
    case 'oneOf':
      return 'must match exactly one of the alternatives, but matches several';
    case 'not':
      return 'must not match the schema in `not`';
    default:
      return `must satisfy the rule ${keyword} of the document`;
  }
}

function unknownProperty(schema: JsonObject): string {
  const { properties } = schema;
  const names = isObject(properties) ? Object.keys(properties) : [];
  return names.length === 0 ? 'is not known here; no properties are expected' : `is not known here; known are ${names.join(', ')}`;
}

/** JSON types in words: "a string or null". */
export function typeNames(types: unknown): string {
  const names = Array.isArray(types) ? types : String(types).split(',');
  return [...new Set(names.map((name) => TYPE_NAMES[String(name)] ?? String(name)))].join(' or ');
}

function list(values: unknown): string {
  return Array.isArray(values) ? values.map((value) => (typeof value === 'string' ? value : JSON.stringify(value))).join(', ') : '';
}

/** A number with its noun, in the singular or the plural. */
export function counted(count: unknown, one: string, many = `${one}s`): string {
  return `${String(count)} ${count === 1 ? one : many}`;
}
