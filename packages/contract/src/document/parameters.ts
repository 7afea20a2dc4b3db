import type { Issue } from './issues.ts';
import type { Operation, Parameter } from './operation.ts';
import { firstFitting, sampleOf } from './sample.ts';
import type { SampleSource } from './sample.ts';

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
    const texts = given === undefined ? textsOf(source, parameter) : [given];
    const [first] = texts ?? [];
    if (texts === undefined)
      return `it needs the ${place} parameter ${name}, for which the document has no example; give a value with --value ${name}=VALUE`;
    if (place === 'query') query.push(...texts.map((text) => [name, text] as const));
    else if (first !== undefined && place === 'header') headers[name] = first;
    else if (first !== undefined) cookies[name] = first;
  }
  return { query, headers, cookies };
}

/** Whether a parameter is the credential. Some documents describe it twice. */
export function isCredential({ security }: Operation, { name, in: place }: Parameter): boolean {
  return security?.in === place && security.name.toLowerCase() === name.toLowerCase();
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

/** Serialises a value of a parameter: several strings for a repeated list. */
function textsOf(source: SampleSource, parameter: Parameter): readonly string[] | undefined {
  const { pointer, examples } = parameter;
  const sample = firstFitting(source, pointer, examples) ?? (pointer === undefined ? undefined : sampleOf(source, pointer));
  const [example] = examples;
  const value = sample === undefined ? example : sample.value;
  if (Array.isArray(value)) return parameter.explode ? value.map(String) : [value.map(String).join(',')];
  if (value === null || value === undefined || typeof value === 'object') return undefined;
  return [String(value)];
}

/** The values of a path parameter in the document, as strings. */
export function namedValues(source: SampleSource, { pointer, examples }: Parameter): readonly string[] {
  const sample = pointer === undefined ? undefined : sampleOf(source, pointer);
  const known = [...examples, ...(sample?.isFromDocument === true ? [sample.value] : [])];
  return [...new Set(known.filter((value) => typeof value === 'string' || typeof value === 'number').map(String))];
}
