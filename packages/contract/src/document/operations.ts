import { collectionNameOf } from './creation.ts';
import { DocumentError, parseDocument, resolve } from './document.ts';
import type { OpenApiDocument, Resolved } from './document.ts';
import { readBodyOf } from './form-fields.ts';
import { emptyRecord, isObject, member } from './json.ts';
import type { JsonObject } from './json.ts';
import { mediaTypeName } from './media-type.ts';
import { readExamples, readHeader, readSchema } from './members.ts';
import type { Header, Link, MediaType, Operation, OperationResponse, Parameter, SecurityKey } from './operation.ts';
import { joinPointer, valueAt } from './pointer.ts';
import { provenanceOf } from './provenance.ts';
import type { Provenance } from './provenance.ts';
import { keysOf, memberTypes } from './schema.ts';

const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'] as const;
const READ_ONLY_METHODS: ReadonlySet<string> = new Set(['get', 'head', 'options']);

/** An operation that cannot be read, because it has a broken reference or breaks the rules of OpenAPI. */
export interface UnreadableOperation extends Pick<Operation, 'id' | 'method' | 'path' | 'pointer'> {
  readonly reason: string;
}

/** The readable and the unreadable operations of a document. */
export interface OperationSurvey {
  readonly operations: readonly Operation[];
  readonly unreadable: readonly UnreadableOperation[];
}

/**
 * Reads the operations of a document, in its order, with references resolved and provenance inherited.
 * @param document a bundled OpenAPI 3.1 document
 * @throws {DocumentError} when the document is invalid, or a required part is missing or has a wrong type
 */
export function readOperations(document: OpenApiDocument): readonly Operation[] {
  const { operations, unreadable } = surveyOperations(document);
  const [first] = unreadable;
  if (first !== undefined) throw new DocumentError(first.reason);
  return operations;
}

/** A cache, because a run and its commands need the operations of one document many times. */
const surveys = new WeakMap<OpenApiDocument, OperationSurvey>();

/**
 * Reads the operations of a document, and lists those that cannot be read.
 * @throws {DocumentError} when it is not an OpenAPI 3.1 document
 */
export function surveyOperations(document: OpenApiDocument): OperationSurvey {
  const survey = surveys.get(parseDocument(document)) ?? readSurvey(document);
  surveys.set(document, survey);
  return survey;
}

function readSurvey(document: OpenApiDocument): OperationSurvey {
  const { paths = {} } = document;
  const operations: Operation[] = [];
  const unreadable: UnreadableOperation[] = [];
  const ids = new Set<string>();
  const responses: KnownResponses = new Map();
  function addOperation(path: string, method: string, item: Resolved): void {
    const id = idOf(member(item.value, method), path, method);
    try {
      if (ids.has(id)) throw new DocumentError(`Two operations of the document are called ${id}.`);
      operations.push(readOperation(document, item, path, method, responses));
      ids.add(id);
    } catch (error) {
      if (!(error instanceof DocumentError)) throw error;
      const isTaken = ids.has(id);
      unreadable.push({
        id: isTaken ? `${method.toUpperCase()} ${path}` : id,
        method: method.toUpperCase(),
        path,
        pointer: joinPointer(item.pointer, method),
        reason: error.message,
      });
    }
  }
  for (const path of Object.keys(paths)) {
    if (!path.startsWith('/')) continue;
    const item = resolve(document, joinPointer('/paths', path));
    for (const method of METHODS) if (isObject(member(item.value, method))) addOperation(path, method, item);
  }
  return { operations, unreadable };
}

function idOf(operation: unknown, path: string, method: string): string {
  return (isObject(operation) ? stringOf(operation['operationId']) : undefined) ?? `${method.toUpperCase()} ${path}`;
}

function readOperation(document: OpenApiDocument, item: Resolved, path: string, method: string, known: KnownResponses): Operation {
  const { pointer, value } = resolve(document, joinPointer(item.pointer, method));
  const provenance = provenanceOf(value, provenanceOf(item.value, 'shown'));
  const billable = value['x-billable'] === true;
  const isSaid = typeof value['x-read-only'] === 'boolean';
  // A billable operation changes state, whatever its method.
  const readOnly = !billable && (isSaid ? value['x-read-only'] === true : READ_ONLY_METHODS.has(method));
  const retry = value['x-retry'];
  const [tag] = listAt(value, 'tags');
  const responses = readResponses(document, { pointer, value }, provenance, known);
  return {
    id: idOf(value, path, method),
    method: method.toUpperCase(),
    path,
    pointer,
    summary: stringOf(value['summary']) ?? '',
    tag: stringOf(tag),
    provenance,
    billable,
    readOnly,
    destructive: value['x-destructive'] === true,
    makesSeveral: !readOnly && makesSeveral(document, { path, method: method.toUpperCase() }, responses),
    retry: retry === 'safe' || retry === 'never' ? retry : readOnly ? 'safe' : 'never',
    ownServer: ownServer(document, item, value),
    ...readSecurity(document, value),
    parameters: readParameters(document, [item, { pointer, value }], provenance),
    ...readBodyOf(document, pointer),
    responses,
  };
}

/** The first server of an operation or its path, if the document has no such server. */
function ownServer(document: OpenApiDocument, item: Resolved, operation: JsonObject): string | undefined {
  const [own = listAt(item.value, 'servers')[0]] = listAt(operation, 'servers');
  const url = isObject(own) ? stringOf(own['url']) : undefined;
  const shared = valueAt(document, '/servers');
  const isShared = Array.isArray(shared) && shared.some((server) => isObject(server) && server['url'] === url);
  return isShared ? undefined : url;
}

function makesSeveral(
  document: OpenApiDocument,
  operation: Pick<Operation, 'path' | 'method'>,
  responses: Operation['responses'],
): boolean {
  const name = collectionNameOf(operation);
  const successes = Object.entries(responses).flatMap(([status, { content }]) => (status.startsWith('2') ? Object.values(content) : []));
  try {
    return successes.some(({ pointer }) => pointer !== undefined && memberTypes(document, pointer, name).has('array'));
  } catch (error) {
    // A schema that cannot be read is reported with the response that has it.
    if (error instanceof DocumentError) return false;
    throw error;
  }
}

function readParameters(document: OpenApiDocument, holders: readonly Resolved[], inherited: Provenance): readonly Parameter[] {
  const parameters = new Map<string, Parameter>();
  for (const holder of holders) {
    listAt(holder.value, 'parameters').forEach((written, index) => {
      const { pointer, value } = resolve(document, joinPointer(holder.pointer, 'parameters', index));
      const { name, in: place } = value;
      if (typeof name !== 'string' || !isPlace(place))
        throw new DocumentError(`The parameter at ${pointer} has no name or no place ("in").`);
      parameters.set(`${place} ${name}`, {
        name,
        in: place,
        holder: pointer,
        required: place === 'path' || value['required'] === true,
        ...readSchema(document, pointer),
        provenance: provenanceOf(value, provenanceOf(written, inherited)),
        examples: Object.values(readExamples(document, pointer)).map((example) => example.value),
        style: stringOf(value['style']) ?? (place === 'query' || place === 'cookie' ? 'form' : 'simple'),
        explode: typeof value['explode'] === 'boolean' ? value['explode'] : (value['style'] ?? 'form') === 'form',
      });
    });
  }
  return [...parameters.values()];
}

function isPlace(value: unknown): value is Parameter['in'] {
  return value === 'path' || value === 'query' || value === 'header' || value === 'cookie';
}

/** Responses by place and provenance. Most operations have the same error responses. */
type KnownResponses = Map<string, OperationResponse>;

function readResponses(
  document: OpenApiDocument,
  operation: Resolved,
  inherited: Provenance,
  known: KnownResponses,
): Operation['responses'] {
  const responses = emptyRecord<OperationResponse>();
  for (const status of keysOf(operation.value, 'responses')) {
    if (status.startsWith('x-')) continue;
    const response = resolve(document, joinPointer(operation.pointer, 'responses', status));
    const provenance = provenanceOf(response.value, provenanceOf(member(asObject(operation.value['responses']), status), inherited));
    const key = `${provenance} ${response.pointer}`;
    const read = known.get(key) ?? readResponse(document, response, provenance);
    known.set(key, read);
    responses[status] = read;
  }
  return responses;
}

function readResponse(document: OpenApiDocument, { pointer, value }: Resolved, provenance: Provenance): OperationResponse {
  const content = emptyRecord<MediaType>();
  for (const type of keysOf(value, 'content')) {
    const place = joinPointer(pointer, 'content', type);
    content[mediaTypeName(type)] = { holder: place, ...readSchema(document, place), examples: readExamples(document, place) };
  }
  const headers = emptyRecord<Header>();
  for (const name of keysOf(value, 'headers')) {
    headers[name.toLowerCase()] = readHeader(document, joinPointer(pointer, 'headers', name), provenance);
  }
  return {
    holder: pointer,
    description: stringOf(value['description']) ?? '',
    provenance,
    content,
    headers,
    links: readLinks(document, { pointer, value }),
  };
}

function readLinks(document: OpenApiDocument, response: Resolved): readonly Link[] {
  const links: Link[] = [];
  for (const name of keysOf(response.value, 'links')) {
    const { value } = resolve(document, joinPointer(response.pointer, 'links', name));
    const operationId = stringOf(value['operationId']);
    if (operationId === undefined) continue;
    const parameters = emptyRecord<string>();
    for (const [parameter, expression] of Object.entries(asObject(value['parameters']))) {
      // A name may be qualified by its location: "path.vmid".
      if (typeof expression === 'string') parameters[parameter.replace(/^(?:path|query|header|cookie)\./, '')] = expression;
    }
    links.push({ operationId, parameters });
  }
  return links;
}

/** The preferred security requirement of which every scheme is an API key, a token, or user and password: the one with the fewest. */
function readSecurity(document: OpenApiDocument, operation: JsonObject): Pick<Operation, 'security' | 'unsupportedSecurity'> {
  const written = Array.isArray(operation['security']) ? operation['security'] : (document.security ?? []);
  const requirements = written.filter(isObject);
  const optional = requirements.length === 0 || requirements.some((requirement) => Object.keys(requirement).length === 0);
  const readable = requirements.flatMap((requirement) => {
    const schemes = Object.keys(requirement);
    const keys = schemes.flatMap((scheme) => readScheme(document, scheme, listAt(requirement, scheme).map(String)) ?? []);
    return schemes.length > 0 && keys.length === schemes.length ? [keys] : [];
  });
  const [keys] = readable.toSorted((one, other) => one.length - other.length || preferenceOf(one) - preferenceOf(other));
  if (keys !== undefined) return { security: { keys, optional }, unsupportedSecurity: undefined };
  if (optional) return { security: undefined, unsupportedSecurity: undefined };
  const needed = requirements.map((requirement) => Object.keys(requirement).join(' and ')).join(' or ');
  return {
    security: undefined,
    unsupportedSecurity: `it needs ${needed}; only API keys, bearer tokens, and user and password can be sent`,
  };
}

function preferenceOf(keys: readonly SecurityKey[]): number {
  return Math.max(...keys.map(({ kind, in: place }) => (kind === 'basic' ? 3 : kind === 'bearer' ? 1 : place === 'header' ? 0 : 2)));
}

function readScheme(document: OpenApiDocument, scheme: string, scopes: readonly string[]): SecurityKey | undefined {
  const pointer = joinPointer('/components/securitySchemes', scheme);
  if (valueAt(document, pointer) === undefined) return undefined;
  const { value } = resolve(document, pointer);
  const { type, in: place } = value;
  const name = stringOf(value['name']);
  const common = { scheme, scopes, variable: stringOf(value[VARIABLE]) ?? 'CONTRACT_API_KEY' };
  if (type === 'apiKey' && name !== undefined && (place === 'header' || place === 'query' || place === 'cookie'))
    return { ...common, kind: 'key', in: place, name };
  const http = type === 'http' ? stringOf(value['scheme'])?.toLowerCase() : undefined;
  if (http === 'bearer' || type === 'oauth2' || type === 'openIdConnect')
    return { ...common, kind: 'bearer', in: 'header', name: 'Authorization' };
  return http === 'basic' ? { ...common, kind: 'basic', in: 'header', name: 'Authorization' } : undefined;
}

/** The key of a security scheme with the environment variable of its credential, where it has one of its own. */
export const VARIABLE = 'x-contract-variable';

/** The described response of a status: for the exact code, else its class (`4XX`), else `default`. */
export function responseFor(operation: Operation, status: number): OperationResponse | undefined {
  return operation.responses[String(status)] ?? operation.responses[`${Math.floor(status / 100)}XX`] ?? operation.responses['default'];
}

function listAt(object: JsonObject, name: string): readonly unknown[] {
  const value = member(object, name);
  return Array.isArray(value) ? value : [];
}

function asObject(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

function stringOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
