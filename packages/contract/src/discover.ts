import { isSuccess, jsonOf, type Answer } from './answer.ts';
import type { OpenApiDocument } from './document.ts';
import { isObject } from './json.ts';
import type { Operation, Parameter } from './operation.ts';
import { responseFor } from './operations.ts';
import { walkDescribed, type Place } from './place.ts';
import { valueAt } from './pointer.ts';
import { keysOf } from './schema.ts';
import type { Validator } from './validator.ts';

/** Values for the path parameters of one call. */
export type PathValues = Readonly<Record<string, string>>;

export interface Discovery {
  readonly document: OpenApiDocument;
  readonly validator: Validator;
  readonly operation: Operation;
  /** What has been answered so far. */
  readonly answers: readonly Answer[];
}

/** Values that would change the path of the request instead of standing in it. */
const UNUSABLE: ReadonlySet<string> = new Set(['', '.', '..']);

/**
 * Values for the path parameters of an operation, taken from earlier answers: first where links of the document lead, then
 * by name and place. A guess that is wrong costs one answer "not found".
 * @returns one entry for each call that is worth making, best first; one empty entry where there are no parameters
 */
export function discoverPaths(discovery: Discovery): readonly PathValues[] {
  const parameters = discovery.operation.parameters.filter((parameter) => parameter.in === 'path');
  const [only, ...others] = parameters;
  if (only === undefined) return [{}];
  const linked = fromLinks(discovery).filter((values) =>
    parameters.every((parameter) => accepts(discovery.validator, parameter, values[parameter.name])),
  );
  if (others.length > 0 || linked.length > 0) return linked;
  const guesses = new Set(fromAnswers(discovery, only.name).filter((value) => accepts(discovery.validator, only, value)));
  return [...guesses].map((value) => ({ [only.name]: value }));
}

function accepts(validator: Validator, parameter: Parameter, value: string | undefined): boolean {
  if (value === undefined || UNUSABLE.has(value) || !value.isWellFormed()) return false;
  if (parameter.pointer === undefined) return true;
  const check = validator.compile(parameter.pointer);
  return check(value).length === 0 || (/^-?[0-9]+$/.test(value) && check(Number(value)).length === 0);
}

/** OpenAPI links: `$response.body#/data/list/0`. */
function fromLinks({ operation, answers }: Discovery): readonly PathValues[] {
  const found: PathValues[] = [];
  for (const answer of answers) {
    for (const link of responseFor(answer.operation, answer.status)?.links ?? []) {
      if (link.operationId !== operation.id || answer.body.kind !== 'json') continue;
      const { value: body } = answer.body;
      const values = Object.entries(link.parameters).map(([name, expression]) => [name, text(evaluate(body, expression))] as const);
      const known = values.filter((entry): entry is readonly [string, string] => entry[1] !== undefined);
      if (known.length === values.length) found.push(Object.fromEntries(known));
    }
  }
  return found;
}

function evaluate(body: unknown, expression: string): unknown {
  const pointer = /^\$response\.body#(\/.*)$/.exec(expression)?.[1];
  return pointer === undefined ? undefined : valueAt(body, pointer);
}

function fromAnswers(discovery: Discovery, name: string): readonly string[] {
  const { document, operation, answers } = discovery;
  const prefix = operation.path.slice(0, operation.path.indexOf(`/{${name}}`));
  const area = operation.path.split('/', 2).join('/');
  const nearest: string[] = [];
  const inArea: string[] = [];
  for (const { operation: source, status, body } of answers) {
    const response = responseFor(source, status);
    const pointer = response === undefined ? undefined : jsonOf(response)?.pointer;
    if (response === undefined || pointer === undefined || body.kind !== 'json' || !isSuccess(status)) continue;
    const isBelow = source.path === prefix || (source.path.startsWith(`${prefix}/`) && !source.path.includes('{'));
    const isInArea = source.path === area || source.path.startsWith(`${area}/`);
    if (!isBelow && !isInArea) continue;
    walkDescribed(document, { pointer, provenance: response.provenance }, body.value, (place) => {
      if (place.nodes.some(({ schema }) => schema['x-secret'] === true)) return false;
      if (isBelow) nearest.push(...keysOfMap(place, source.path === prefix), ...plainItems(place));
      if (isInArea) inArea.push(...named(place, name));
      return true;
    });
  }
  return [...nearest, ...inArea];
}

/** The collection itself answers a map: its keys are the identifiers. */
function keysOfMap({ value, nodes }: Place, isCollection: boolean): readonly string[] {
  const isMap =
    nodes.some(({ schema }) => isObject(schema['additionalProperties'])) &&
    nodes.every(({ schema }) => keysOf(schema, 'properties').length === 0);
  return isCollection && isMap && isObject(value) ? Object.keys(value) : [];
}

/** A list of plain texts beside or below the collection: the items are the identifiers. */
function plainItems({ value }: Place): readonly string[] {
  return Array.isArray(value) ? value.map(text).filter((item) => item !== undefined) : [];
}

/** A property of the parameter's name: its value, or the values of the object that it holds, such as the handles of a domain. */
function named(place: Place, name: string): readonly string[] {
  if (place.name.toLowerCase() !== name.toLowerCase()) return [];
  const values = isObject(place.value) ? Object.values(place.value) : [place.value];
  return values.map(text).filter((value) => value !== undefined);
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;
}
