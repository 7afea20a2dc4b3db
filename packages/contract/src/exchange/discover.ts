import type { OpenApiDocument } from '../document/document.ts';
import { isObject } from '../document/json.ts';
import type { Operation, Parameter } from '../document/operation.ts';
import { responseFor } from '../document/operations.ts';
import { pathParameters } from '../document/path-template.ts';
import { walkDescribed } from '../document/place.ts';
import type { Place } from '../document/place.ts';
import { keysOf } from '../document/schema.ts';
import type { Validator } from '../document/validator.ts';
import { isSuccess, jsonOf } from './exchange.ts';
import type { Exchange } from './exchange.ts';
import { evaluate } from './runtime-expression.ts';

/** Values for the path parameters of one call. */
export type PathValues = Readonly<Record<string, string>>;

export interface Discovery {
  readonly document: OpenApiDocument;
  readonly validator: Validator;
  readonly operation: Operation;
  /** The responses so far. */
  readonly exchanges: readonly Exchange[];
}

/** Values that would change the structure of the path. */
const UNUSABLE: ReadonlySet<string> = new Set(['', '.', '..']);

/** Common names of the identifier property of a resource. */
const OWN_NAMES = ['identifier', 'id', 'uuid'] as const;

/**
 * Values for the path parameters of an operation, taken from the response that created the resource: from links of the document, also those
 * to other operations with the same parameter names; else from a property with the parameter's name; else from a common identifier property.
 * The creation of a subresource, such as a DNS record of a domain, has the path parameters of its parent and adds others.
 */
export function discoverCreated(discovery: Discovery): PathValues | undefined {
  const { operation, validator } = discovery;
  const parameters = operation.parameters.filter((parameter) => parameter.in === 'path');
  const [exchange] = discovery.exchanges;
  if (exchange === undefined) return undefined;
  const above = pathOf(exchange);
  const [only, ...others] = parameters.filter(({ name }) => above[name] === undefined);
  const isBelow = Object.keys(above).every((name) => parameters.some((parameter) => parameter.name === name));
  if (only === undefined || !isBelow) return undefined;
  const known: PathValues = { ...linkedFrom(exchange), ...above };
  const values = parameters.map((parameter) => [parameter, known[parameter.name]] as const);
  if (values.every(([parameter, value]) => accepts(validator, parameter, value)))
    return Object.fromEntries(values.map(([{ name }, value]) => [name, value ?? '']));
  if (others.length > 0 || !isNextTo(exchange.operation, operation, only.name)) return undefined;
  for (const name of [only.name, ...OWN_NAMES]) {
    const found = fromExchanges(discovery, name, true).find((value) => accepts(validator, only, value));
    if (found !== undefined) return { ...above, [only.name]: found };
  }
  return undefined;
}

/** The path parameters of the request. */
function pathOf(exchange: Exchange): PathValues {
  return Object.fromEntries(
    pathParameters(exchange.operation.path).map((name) => [name, text(evaluate(exchange, `$request.path.${name}`)) ?? '']),
  );
}

/** The parameters that the links of a response fill. For a subresource, ignores values of the request, because they may identify its parent. */
function linkedFrom(exchange: Exchange): PathValues {
  const isBelow = exchange.operation.path.includes('{');
  const linked: Record<string, string> = {};
  for (const link of responseFor(exchange.operation, exchange.status)?.links ?? []) {
    for (const [name, expression] of Object.entries(link.parameters)) {
      if (isBelow && !expression.startsWith('$response.')) continue;
      const value = text(evaluate(exchange, expression));
      if (value !== undefined) linked[name] ??= value;
    }
  }
  return linked;
}

/** Whether an operation applies to the resource that another one creates: both have the same first path segment or the same parent. */
function isNextTo(creation: Operation, operation: Operation, parameter: string): boolean {
  const collection = operation.path.slice(0, operation.path.indexOf(`/{${parameter}}`));
  if (creation.path.includes('{')) return creation.path === collection || creation.path.startsWith(`${collection}/`);
  return creation.path.split('/')[1] === operation.path.split('/')[1];
}

/**
 * Values for an operation with several path parameters, from lists of subresources of the resources that the run created.
 *
 * @param isOwn Whether the run created the resource with these path parameters.
 */
export function discoverBelow(discovery: Discovery, isOwn: (above: PathValues) => boolean): readonly PathValues[] {
  const parameters = discovery.operation.parameters.filter((parameter) => parameter.in === 'path');
  const last = pathParameters(discovery.operation.path).at(-1);
  if (parameters.length < 2) return [];
  return fromLists(discovery, parameters).filter((values) =>
    isOwn(Object.fromEntries(Object.entries(values).filter(([name]) => name !== last))),
  );
}

/**
 * Values for the path parameters of an operation, taken from earlier responses: first from links of the document, then by name and place.
 * A wrong guess costs one 404.
 * @returns one entry for each possible call, the best first; one empty entry when there are no parameters
 */
export function discoverPaths(discovery: Discovery): readonly PathValues[] {
  const parameters = discovery.operation.parameters.filter((parameter) => parameter.in === 'path');
  const [only, ...others] = parameters;
  if (only === undefined) return [{}];
  const linked = fromLinks(discovery).filter((values) =>
    parameters.every((parameter) => accepts(discovery.validator, parameter, values[parameter.name])),
  );
  if (others.length > 0) {
    if (linked.length > 0) return linked;
    const listed = fromLists(discovery, parameters);
    return listed.length > 0 ? listed : combined(discovery, parameters);
  }
  // A link identifies only one item of a list. The others are found by name.
  const known = [...linked, ...fromLists(discovery, parameters)].flatMap((values) => values[only.name] ?? []);
  return [...new Set([...linked.flatMap((values) => values[only.name] ?? []), ...guessesFor(discovery, only), ...known])].map((value) => ({
    [only.name]: value,
  }));
}

function accepts(validator: Validator, parameter: Parameter, value: string | undefined): boolean {
  if (value === undefined || UNUSABLE.has(value) || !value.isWellFormed()) return false;
  if (parameter.pointer === undefined) return true;
  const check = validator.compile(parameter.pointer);
  return check(value).length === 0 || (/^-?[0-9]+$/.test(value) && check(Number(value)).length === 0);
}

/** Values for one parameter: by its name and place, or else the identifiers in lists of such resources. */
function guessesFor(discovery: Discovery, parameter: Parameter): readonly string[] {
  function isAccepted(value: string): boolean {
    return accepts(discovery.validator, parameter, value);
  }
  const byName = fromExchanges(discovery, parameter.name).filter(isAccepted);
  const ofResource = byName.length > 0 ? [] : fromResource(discovery, parameter.name).filter(isAccepted);
  return [...new Set([...byName, ...ofResource])];
}

/** Combines the first values of all parameters, then the second ones, and so on. */
function combined(discovery: Discovery, parameters: readonly Parameter[]): readonly PathValues[] {
  const values = parameters.map((parameter) => [parameter.name, guessesFor(discovery, parameter)] as const);
  const rows = Math.min(...values.map(([, guesses]) => guesses.length));
  return Array.from({ length: rows }, (_, row) => Object.fromEntries(values.map(([name, guesses]) => [name, guesses[row] ?? ''])));
}

/**
 * Identifiers of list items together with the path parameters of the list: for `/orgs/{org}/repos/{repo}`, the items of
 * `GET /orgs/{org}/repos` or `GET /orgs/{org}/repos/list`. Prefers a property with the parameter's name to a common identifier property.
 */
function fromLists({ document, validator, operation, exchanges }: Discovery, parameters: readonly Parameter[]): readonly PathValues[] {
  const lastName = pathParameters(operation.path).at(-1) ?? '';
  const last = parameters.find(({ name }) => name === lastName);
  const collection = operation.path.slice(0, operation.path.lastIndexOf(`/{${lastName}}`));
  if (last === undefined || collection === '') return [];
  const found: PathValues[] = [];
  for (const exchange of exchanges) {
    if (!isListAt(collection, exchange.operation.path) || exchange.sent.method !== 'GET' || !isSuccess(exchange.status)) continue;
    for (const value of identifiersIn(document, exchange, lastName))
      if (accepts(validator, last, value)) found.push({ ...pathOf(exchange), [lastName]: value });
  }
  return found;
}

const LIST_WORD = /^(?:list|all|search|index|find|query)/i;

/** Whether a path is a collection or its list: `/vms` or `/vms/list` for `/vms`. */
function isListAt(collection: string, path: string): boolean {
  const plain = withoutEnding(path);
  const word = plain.startsWith(`${collection}/`) ? plain.slice(collection.length + 1) : '';
  return plain === collection || (LIST_WORD.test(word) && !word.includes('/'));
}

/** Whether the literal segments of a path name a list of the wanted resources: `/vms`, `/vm/list`. */
function isListOf(words: readonly string[], wanted: string): boolean {
  const [last = '', before = ''] = words.toReversed();
  return stemOf(last) === wanted || (LIST_WORD.test(last) && stemOf(before) === wanted);
}

/** Whether an operation lists the resources that a path parameter names: `/vms` or `/vm/list` for `{vmId}`. */
export function isListFor({ path, method }: Operation, parameter: string): boolean {
  const wanted = resourceOf(parameter);
  const words = withoutEnding(path)
    .split('/')
    .filter((segment) => segment !== '' && !segment.includes('{'));
  return wanted !== '' && method === 'GET' && !withoutEnding(path).endsWith('}') && isListOf(words, wanted);
}

function resourceOf(parameter: string): string {
  return stemOf(parameter.replace(/[_-]?(?:id|uuid|identifier|sid|name|number|slug|key|code)$/i, ''));
}

/** Identifiers in lists of the resources that a parameter names: of `/vms` or `/vm/list` for `{vmId}`. */
function fromResource({ document, exchanges }: Discovery, parameter: string): readonly string[] {
  return exchanges
    .filter(({ operation, sent, status }) => sent.method === 'GET' && isSuccess(status) && isListFor(operation, parameter))
    .flatMap((exchange) => identifiersIn(document, exchange, parameter));
}

/** A path without a file extension, as in `/messages.json`. */
function withoutEnding(path: string): string {
  return path.replace(/\.[a-z]+$/, '');
}

/** A word in lower case, in the singular, without punctuation. */
function stemOf(word: string): string {
  return word
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, '')
    .replace(/ies$/, 'y')
    .replace(/(?<=s|x|ch|sh)es$|s$/, '');
}

const ITEM_NAMES = ['id', 'identifier', 'uuid', 'sid', 'slug', 'name', 'key', 'code', 'number'] as const;

/** The identifiers of list items in a response: the item itself if it is a string, else one of its properties. */
function identifiersIn(document: OpenApiDocument, exchange: Exchange, parameter: string): readonly string[] {
  const response = responseFor(exchange.operation, exchange.status);
  const pointer = response === undefined ? undefined : jsonOf(response)?.pointer;
  if (response === undefined || pointer === undefined || exchange.body.kind !== 'json') return [];
  const wanted = stemOf(parameter);
  const found: string[] = [];
  walkDescribed(document, { pointer, provenance: response.provenance }, exchange.body.value, ({ value, nodes }) => {
    if (nodes.some(({ schema }) => schema['x-secret'] === true)) return false;
    if (!Array.isArray(value)) return true;
    for (const item of value) {
      const own = text(item);
      const name = isObject(item)
        ? (Object.keys(item).find((key) => stemOf(key) === wanted) ?? ITEM_NAMES.find((key) => text(item[key]) !== undefined))
        : undefined;
      const identifier = own ?? (isObject(item) && name !== undefined ? text(item[name]) : undefined);
      if (identifier !== undefined) found.push(identifier);
    }
    // Lists in items contain other resources.
    return false;
  });
  return found;
}

/** The identifiers of the items in a list, for the path parameter of an operation on one item. */
export function identifiersFor(document: OpenApiDocument, item: Operation, exchange: Exchange): readonly string[] {
  return identifiersIn(document, exchange, pathParameters(item.path).at(-1) ?? '');
}

/** The values in OpenAPI links of earlier responses. */
function fromLinks({ operation, exchanges }: Discovery): readonly PathValues[] {
  const found: PathValues[] = [];
  for (const exchange of exchanges) {
    for (const link of responseFor(exchange.operation, exchange.status)?.links ?? []) {
      if (link.operationId !== operation.id) continue;
      const values = Object.entries(link.parameters).map(([name, expression]) => [name, text(evaluate(exchange, expression))] as const);
      const known = values.filter((entry): entry is readonly [string, string] => entry[1] !== undefined);
      if (known.length === values.length) found.push(Object.fromEntries(known));
    }
  }
  return found;
}

function fromExchanges(discovery: Discovery, name: string, isCreated = false): readonly string[] {
  const { document, operation, exchanges } = discovery;
  const prefix = operation.path.slice(0, operation.path.indexOf(`/{${name}}`));
  const area = operation.path.split('/', 2).join('/');
  const nearest: string[] = [];
  const inArea: string[] = [];
  for (const { operation: source, status, body, sent } of exchanges) {
    if (sent.method !== source.method) continue;
    const response = responseFor(source, status);
    const pointer = response === undefined ? undefined : jsonOf(response)?.pointer;
    if (response === undefined || pointer === undefined || body.kind !== 'json' || !isSuccess(status)) continue;
    const isBelow = source.path === prefix || (source.path.startsWith(`${prefix}/`) && !source.path.includes('{'));
    const isInArea = source.path === area || source.path.startsWith(`${area}/`);
    if (!isBelow && !isInArea) continue;
    walkDescribed(document, { pointer, provenance: response.provenance }, body.value, (place) => {
      if (place.nodes.some(({ schema }) => schema['x-secret'] === true)) return false;
      if (isBelow && !isCreated) nearest.push(...keysOfMap(place, source.path === prefix), ...plainItems(place));
      if (isInArea) inArea.push(...named(place, name));
      return true;
    });
  }
  return [...nearest, ...inArea];
}

/** The keys of the map that a collection returns: they are the identifiers. */
function keysOfMap({ value, nodes }: Place, isCollection: boolean): readonly string[] {
  const isMap =
    nodes.some(({ schema }) => isObject(schema['additionalProperties'])) &&
    nodes.every(({ schema }) => keysOf(schema, 'properties').length === 0);
  return isCollection && isMap && isObject(value) ? Object.keys(value) : [];
}

/** The items of a list of strings in the collection or below it: they are the identifiers. */
function plainItems({ value }: Place): readonly string[] {
  return Array.isArray(value) ? value.map(text).filter((item) => item !== undefined) : [];
}

/** The value of a property with the parameter's name, or of a member of an object with that name, such as the handles of a domain. */
function named(place: Place, name: string): readonly string[] {
  const wanted = name.toLowerCase();
  if (place.name.toLowerCase() !== wanted && place.holder.toLowerCase() !== wanted) return [];
  const value = text(place.value);
  return value === undefined ? [] : [value];
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;
}
