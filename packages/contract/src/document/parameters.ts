import type { OpenApiDocument } from './document.ts';
import type { Issue } from './issues.ts';
import { isObject } from './json.ts';
import type { Operation, Parameter } from './operation.ts';
import { joinPointer } from './pointer.ts';
import { firstFitting, sampleOf } from './sample.ts';
import type { SampleSource, SampleValue } from './sample.ts';
import { keysOf, schemaNodes, typesOf } from './schema.ts';

/** The parameters of a request as strings, except path parameters. */
export interface RequestParameters {
  readonly query: readonly (readonly [name: string, value: string])[];
  readonly headers: Readonly<Record<string, string>>;
  readonly cookies: Readonly<Record<string, string>>;
}

export const NO_PARAMETERS: RequestParameters = { query: [], headers: {}, cookies: {} };

/** Values that the user gives: parameters by name, and headers that every request has, by name in lower case. */
export interface GivenValues {
  readonly values: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
}

export const NOTHING_GIVEN: GivenValues = { values: {}, headers: {} };

/** The value that the user gives for a parameter, if any. */
function givenFor({ values, headers }: GivenValues, { name, in: place }: Parameter): string | undefined {
  return (place === 'header' ? headers[name.toLowerCase()] : undefined) ?? values[name];
}

/** The values of the parameters of an operation that are required or given, or the reason why there are none. */
export function requiredParameters(
  source: SampleSource & { readonly given?: GivenValues },
  operation: Operation,
): RequestParameters | string {
  const query: (readonly [string, string])[] = [];
  const headers: Record<string, string> = {};
  const cookies: Record<string, string> = {};
  for (const parameter of operation.parameters) {
    const { name, in: place, required } = parameter;
    // An entity tag comes from an earlier response.
    const given = givenFor(source.given ?? NOTHING_GIVEN, parameter);
    const isNeeded = required || given !== undefined;
    if (!isNeeded || place === 'path' || isCredential(operation, parameter) || isEntityTag(parameter)) continue;
    const pairs = given === undefined ? writtenSample(source, parameter) : givenPairs(source, parameter, given);
    const first = pairs?.[0]?.[1];
    if (pairs === undefined)
      return `it needs the ${place} parameter ${name}, for which the document has no example; give a value with --value ${name}=VALUE`;
    if (place === 'query') query.push(...pairs);
    else if (first !== undefined && place === 'header') headers[name] = first;
    else if (first !== undefined) cookies[name] = first;
  }
  return { query, headers, cookies };
}

/** Whether a parameter is the credential. Some documents describe it twice. */
export function isCredential({ security }: Operation, { name, in: place }: Parameter): boolean {
  return security?.keys.some((key) => key.in === place && key.name.toLowerCase() === name.toLowerCase()) === true;
}

/** Whether the document describes a header of requests. */
export function takesHeader({ parameters }: Pick<Operation, 'parameters'>, header: string): boolean {
  return parameters.some(({ name, in: place }) => place === 'header' && name.toLowerCase() === header);
}

/** Whether a parameter is the entity tag of the state that a change is for. */
export function isEntityTag({ name, in: place }: Parameter): boolean {
  return place === 'header' && name.toLowerCase() === 'if-match';
}

/**
 * Headers of which HTTP says that a service ignores what it does not understand: conditions, ranges and preferences (RFC 9110, 12, 13 and 14;
 * RFC 7240).
 */
const IGNORABLE = /^(?:accept(?:-.+)?|if-.+|range|prefer|cache-control|pragma|expect|te|dnt|save-data|user-agent|referer|origin|from)$/i;

/** Whether a header names one request, such as `Idempotency-Key`. A service takes two requests with the same value for one. */
export function isRequestName({ name, in: place }: Parameter): boolean {
  return place === 'header' && /^(?:x-)?(?:idempotency-key|(?:request|correlation|trace)-?id)$/i.test(name);
}

/** Whether a service may ignore an invalid value of a parameter. */
export function isIgnorable({ name, in: place }: Parameter): boolean {
  return place === 'header' && IGNORABLE.test(name);
}

/** Validates the text of a parameter, as a string and as the number or Boolean that it may represent. */
export function issuesOfText(check: (value: unknown) => readonly Issue[], text: string): readonly Issue[] {
  const issues = check(text);
  const isOther = /^-?[0-9]+(?:\.[0-9]+)?$|^(?:true|false)$/.test(text);
  return issues.length > 0 && isOther ? check(JSON.parse(text)) : issues;
}

/** A parameter as it is sent. */
export type Pair = readonly [name: string, text: string];

/** A valid value of a parameter, as it is sent: several pairs for a repeated list and for an object. */
export function writtenSample(source: SampleSource, parameter: Parameter): readonly Pair[] | undefined {
  const { pointer, examples } = parameter;
  const sample =
    firstFitting(source, pointer, examples) ??
    wholeObject(source, parameter) ??
    (pointer === undefined ? undefined : sampleOf(source, pointer));
  const [example] = examples;
  return textPairs(parameter, sample === undefined ? example : sample.value);
}

/** The value that the user gives: JSON for an object, else the text. */
function givenPairs({ document }: SampleSource, parameter: Parameter, text: string): readonly Pair[] {
  if (!isSpread(document, parameter)) return [[parameter.name, text]];
  try {
    return textPairs(parameter, JSON.parse(text)) ?? [[parameter.name, text]];
  } catch {
    return [[parameter.name, text]];
  }
}

/** An object with a value for each property, also for those that are not required: without them, it would not be sent. */
export function wholeObject(source: SampleSource, { pointer }: Parameter): SampleValue | undefined {
  if (pointer === undefined) return undefined;
  const properties = schemaNodes(source.document, pointer).flatMap((node) =>
    keysOf(node.schema, 'properties').map(
      (name) => [name, sampleOf(source, joinPointer(node.pointer, 'properties', name))?.value] as const,
    ),
  );
  const given = properties.filter(([, value]) => value !== undefined);
  return given.length === 0 ? undefined : firstFitting(source, pointer, [Object.fromEntries(given)]);
}

const SEPARATORS: Readonly<Record<string, string>> = { spaceDelimited: ' ', pipeDelimited: '|' };

/** Writes a value in the style of its parameter; undefined when it has none, or contains further lists and objects. */
export function textPairs({ name, in: place, style, explode }: Parameter, value: unknown): readonly Pair[] | undefined {
  const separator = SEPARATORS[style] ?? ',';
  // Only the query can repeat a name.
  if (Array.isArray(value))
    return explode && place === 'query' ? value.map((item) => [name, String(item)]) : [[name, value.map(String).join(separator)]];
  if (value === null || value === undefined) return undefined;
  if (!isObject(value)) return [[name, String(value)]];
  const entries = Object.entries(value);
  if (entries.some(([, item]) => typeof item === 'object')) return undefined;
  if (style === 'deepObject') return entries.map(([key, item]) => [`${name}[${key}]`, String(item)]);
  if (style === 'form' && explode) return entries.map(([key, item]) => [key, String(item)]);
  return [[name, entries.map(([key, item]) => `${key}${explode ? '=' : separator}${String(item)}`).join(separator)]];
}

/**
 * Whether a parameter of the query is an object whose properties are sent as parameters of their own: `page=0&size=5`, or `filter[name]=x`.
 * Nothing is sent for an empty object, so such a parameter is never missing.
 */
export function isSpread(document: OpenApiDocument, { in: place, pointer, style, explode }: Parameter): boolean {
  if (place !== 'query' || pointer === undefined || !(style === 'deepObject' || (style === 'form' && explode))) return false;
  return typesOf(schemaNodes(document, pointer)).has('object');
}

/** Whether a parameter is a list or an object, of which its text is only the written form. */
export function hasListOrObject(document: OpenApiDocument, { pointer }: Parameter): boolean {
  const types = pointer === undefined ? new Set() : typesOf(schemaNodes(document, pointer));
  return types.has('array') || types.has('object');
}

/** Whether a name of the query is that of a property of a parameter that is an object. */
export function isSpreadName(document: OpenApiDocument, parameter: Parameter, name: string): boolean {
  if (!isSpread(document, parameter)) return false;
  if (parameter.style === 'deepObject') return name.startsWith(`${parameter.name}[`);
  return schemaNodes(document, parameter.pointer ?? '').some(({ schema }) => keysOf(schema, 'properties').includes(name));
}

/** The values of a path parameter in the document, as strings. */
export function namedValues(source: SampleSource, { pointer, examples }: Parameter): readonly string[] {
  const sample = pointer === undefined ? undefined : sampleOf(source, pointer);
  const known = [...examples, ...(sample?.isFromDocument === true ? [sample.value] : [])];
  return [...new Set(known.filter((value) => typeof value === 'string' || typeof value === 'number').map(String))];
}
