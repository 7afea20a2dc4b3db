import { collectionNameOf, isItemWrite, itemIn, pathShapeOf, withoutEnding } from '../document/creation.ts';
import type { OpenApiDocument } from '../document/document.ts';
import { isObject } from '../document/json.ts';
import { createMatcher } from '../document/match.ts';
import type { Operation, Parameter } from '../document/operation.ts';
import { responseFor } from '../document/operations.ts';
import { fillPath, pathParameters } from '../document/path-template.ts';
import { walkDescribed } from '../document/place.ts';
import type { Place } from '../document/place.ts';
import { keysOf } from '../document/schema.ts';
import { MASK, maskSecrets } from '../document/secrets.ts';
import type { Validator } from '../document/validator.ts';
import { isSuccess, jsonOf, jsonValue } from './exchange.ts';
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
 * Values for the path parameters of an operation on the resource that a request created, from its response: from a link of the document, the
 * `Location`, a property with the parameter's name, or a common identifier property. The parents are those of the request.
 * @returns undefined when the operation is not about an item of the collection in which the request created, or the response names no item
 */
export function discoverCreated({ document, validator, operation, operations, exchange }: CreatedBy): PathValues | undefined {
  const item = itemIn(operation.path, exchange.operation);
  const names = pathParameters(operation.path);
  const last = names.at(-1) ?? '';
  const parameter = operation.parameters.find(({ name, in: place }) => place === 'path' && name === last);
  if (parameter === undefined) return undefined;
  const above = Object.values(pathOf(exchange));
  if (item === undefined || pathParameters(item).length !== names.length) return locatedElsewhere(exchange, operation);
  if (isItemWrite(exchange.operation)) return Object.fromEntries(names.map((name, index) => [name, above[index] ?? '']));
  const candidates = [
    ...linkedFrom(exchange, operations, last),
    locatedAt(exchange, operation)?.[last],
    identifierIn(document, exchange, [last, ...OWN_NAMES, ...shortNamesOf(last)]),
  ];
  const value = candidates.find((candidate) => accepts(validator, parameter, candidate));
  return value === undefined
    ? undefined
    : Object.fromEntries(names.map((name, index) => [name, name === last ? value : (above[index] ?? '')]));
}

export interface CreatedBy extends Omit<Discovery, 'exchanges'> {
  readonly operations: readonly Operation[];
  /** The request that created, and its response. */
  readonly exchange: Exchange;
}

/** The path parameters of the request. */
export function pathOf(exchange: Exchange): PathValues {
  return Object.fromEntries(
    pathParameters(exchange.operation.path).map((name) => [name, text(evaluate(exchange, `$request.path.${name}`)) ?? '']),
  );
}

/** What links to items of the same collection have for a parameter. For a subresource, a value of the request identifies its parent. */
function linkedFrom(exchange: Exchange, operations: readonly Operation[], parameter: string): readonly string[] {
  const isBelow = exchange.operation.path.includes('{');
  return (responseFor(exchange.operation, exchange.status)?.links ?? []).flatMap((link) => {
    const target = operations.find(({ id }) => id === link.operationId);
    const expression = link.parameters[parameter];
    if (target === undefined || expression === undefined || itemIn(target.path, exchange.operation) === undefined) return [];
    return isBelow && !expression.startsWith('$response.') ? [] : (text(evaluate(exchange, expression)) ?? []);
  });
}

/** The path parameters with which the `Location` of a response is the path of an operation, or of the resource that it is about. */
function locatedAt(exchange: Exchange, operation: Operation): PathValues | undefined {
  const location = exchange.headers['location'];
  if (location === undefined || !URL.canParse(location, exchange.sent.url)) return undefined;
  const [sent, url] = [new URL(exchange.sent.url), new URL(location, exchange.sent.url)];
  const base = sent.pathname.slice(0, sent.pathname.length - fillPath(exchange.operation.path, pathOf(exchange)).length);
  if (url.origin !== sent.origin || !url.pathname.startsWith(`${base}/`)) return undefined;
  const path = url.pathname.slice(base.length);
  const resource = operation.path.slice(0, operation.path.lastIndexOf('}') + 1);
  return createMatcher([operation, { ...operation, path: resource }])(operation.method, path)?.parameters;
}

/** The resource in another collection that a request created, which only the `Location` of a 201 names. */
function locatedElsewhere(exchange: Exchange, operation: Operation): PathValues | undefined {
  return exchange.status === 201 ? locatedAt(exchange, operation) : undefined;
}

/** How deep the resource can be in envelopes: `{data: {vm: {…}}}`. */
const MAX_ENVELOPES = 2;
const ENVELOPE_NAME = /^(?:data|item|payload|resource|result)$/i;

/** The identifier of the resource in a response: of the body or of the object in its envelope, never of an object below the resource. */
export function identifierIn(document: OpenApiDocument, exchange: Exchange, names: readonly string[]): string | undefined {
  const response = responseFor(exchange.operation, exchange.status);
  const pointer = response === undefined ? undefined : jsonOf(response)?.pointer;
  const body = jsonValue(exchange);
  const resource = stemOf(collectionNameOf(exchange.operation));
  let holder: unknown = pointer === undefined ? body : maskSecrets(document, pointer, body);
  for (let depth = 0; depth <= MAX_ENVELOPES && isObject(holder); depth++) {
    for (const name of names) {
      const key = Object.keys(holder).find((one) => stemOf(one) === stemOf(name));
      const value = key === undefined ? undefined : holder[key];
      const found = text(isObject(value) ? ITEM_NAMES.map((one) => value[one]).find((one) => text(one) !== undefined) : value);
      if (found !== undefined && found !== MASK) return found;
    }
    const [, inner] = Object.entries(holder).find(([name]) => ENVELOPE_NAME.test(name) || stemOf(name) === resource) ?? [];
    holder = inner;
  }
  return undefined;
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
  const wanted = resourceStemOf(parameter);
  const words = withoutEnding(path)
    .split('/')
    .filter((segment) => segment !== '' && !segment.includes('{'));
  return wanted !== '' && method === 'GET' && !withoutEnding(path).endsWith('}') && isListOf(words, wanted);
}

function resourceStemOf(parameter: string): string {
  return stemOf(parameter.replace(/[_-]?(?:id|uuid|identifier|sid|name|number|slug|key|code)$/i, ''));
}

/** Identifiers in lists of the resources that a parameter names: of `/vms` or `/vm/list` for `{vmId}`. */
function fromResource({ document, exchanges }: Discovery, parameter: string): readonly string[] {
  return exchanges
    .filter(({ operation, sent, status }) => sent.method === 'GET' && isSuccess(status) && isListFor(operation, parameter))
    .flatMap((exchange) => identifiersIn(document, exchange, parameter));
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

/** The property of a resource that a parameter such as `featureName` can mean: `name`. */
function shortNamesOf(parameter: string): readonly string[] {
  return ITEM_NAMES.filter((name) => stemOf(parameter).endsWith(name) && stemOf(parameter) !== name);
}

/**
 * Everything in a response that may identify an item of a list or of a map, for a path parameter. Rather too much than too little: other lists
 * in the same response, such as the roles next to the users, count too.
 * @returns whether there is only one list, so that its items are those of the collection
 */
export function identifiersAnywhere(body: unknown, parameter: string): { readonly values: readonly string[]; readonly isSure: boolean } {
  const names = new Set([parameter, ...ITEM_NAMES].map(stemOf));
  const found: string[] = [];
  function addIdentifiers(value: unknown, isItem: boolean): void {
    const own = text(value);
    if (own !== undefined && isItem) found.push(own);
    if (Array.isArray(value)) for (const item of value) addIdentifiers(item, true);
    else if (isObject(value))
      for (const [key, member] of Object.entries(value)) {
        const identifier = isItem && names.has(stemOf(key)) ? text(member) : undefined;
        if (identifier !== undefined) found.push(identifier);
        if (typeof member !== 'object' || member === null) continue;
        found.push(key);
        addIdentifiers(member, false);
      }
  }
  addIdentifiers(body, false);
  const lists = isObject(body) ? Object.values(body).filter(Array.isArray) : [];
  return { values: found, isSure: lists.length < 2 };
}

/** Whether an operation lists the items of the collection before the last parameter of a path. */
export function isListFrom(list: Operation, item: string): boolean {
  const collection = pathShapeOf(item.slice(0, item.lastIndexOf('/{')));
  return list.method === 'GET' && isListAt(collection, pathShapeOf(list.path));
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

function fromExchanges(discovery: Discovery, name: string): readonly string[] {
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
      if (isBelow) nearest.push(...keysOfMap(place, source.path === prefix), ...plainItems(place));
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
