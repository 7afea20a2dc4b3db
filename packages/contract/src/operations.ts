import { DocumentError, parseDocument, resolve, type OpenApiDocument, type Resolved } from './document.ts';
import { readFormOf } from './form-fields.ts';
import { emptyRecord, isObject, member, type JsonObject } from './json.ts';
import { readExamples, readHeader, readSchema } from './members.ts';
import type { Header, Link, MediaType, Operation, OperationResponse, Parameter, Security } from './operation.ts';
import { joinPointer } from './pointer.ts';
import { provenanceOf, type Provenance } from './provenance.ts';
import { keysOf } from './schema.ts';

const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'] as const;
const READ_ONLY_METHODS: ReadonlySet<string> = new Set(['get', 'head', 'options']);

/**
 * The operations of a document, in its order, with references resolved and provenance inherited.
 * @param document an OpenAPI 3.1 document in one piece
 * @throws {DocumentError} when it is not one, or a part that is needed is missing or mistyped
 */
export function readOperations(document: OpenApiDocument): readonly Operation[] {
  const { paths = {} } = parseDocument(document);
  const operations: Operation[] = [];
  for (const path of Object.keys(paths)) {
    if (!path.startsWith('/')) continue;
    const item = resolve(document, joinPointer('/paths', path));
    for (const method of METHODS) {
      if (isObject(member(item.value, method))) operations.push(readOperation(document, item, path, method));
    }
  }
  rejectDuplicates(operations);
  return operations;
}

function rejectDuplicates(operations: readonly Operation[]): void {
  const ids = new Set<string>();
  for (const { id } of operations) {
    if (ids.has(id)) throw new DocumentError(`Two operations of the document are called ${id}.`);
    ids.add(id);
  }
}

function readOperation(document: OpenApiDocument, item: Resolved, path: string, method: string): Operation {
  const { pointer, value } = resolve(document, joinPointer(item.pointer, method));
  const provenance = provenanceOf(value, provenanceOf(item.value, 'shown'));
  const readOnly = READ_ONLY_METHODS.has(method) || value['x-read-only'] === true;
  const retry = value['x-retry'];
  const [tag] = listAt(value, 'tags');
  return {
    id: text(value['operationId']) ?? `${method.toUpperCase()} ${path}`,
    method: method.toUpperCase(),
    path,
    pointer,
    summary: text(value['summary']) ?? '',
    tag: text(tag),
    provenance,
    billable: value['x-billable'] === true,
    readOnly,
    retry: retry === 'safe' || retry === 'never' ? retry : readOnly ? 'safe' : 'never',
    security: readSecurity(document, value),
    parameters: readParameters(document, [item, { pointer, value }], provenance),
    form: readFormOf(document, pointer),
    responses: readResponses(document, { pointer, value }, provenance),
  };
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
        required: place === 'path' || value['required'] === true,
        ...readSchema(document, pointer),
        provenance: provenanceOf(value, provenanceOf(written, inherited)),
        examples: Object.values(readExamples(document, pointer)).map((example) => example.value),
      });
    });
  }
  return [...parameters.values()];
}

function isPlace(value: unknown): value is Parameter['in'] {
  return value === 'path' || value === 'query' || value === 'header' || value === 'cookie';
}

function readResponses(document: OpenApiDocument, operation: Resolved, inherited: Provenance): Operation['responses'] {
  const responses = emptyRecord<OperationResponse>();
  for (const status of keysOf(operation.value, 'responses')) {
    if (status.startsWith('x-')) continue;
    const at = joinPointer(operation.pointer, 'responses', status);
    const { pointer, value } = resolve(document, at);
    const provenance = provenanceOf(value, provenanceOf(member(asObject(operation.value['responses']), status), inherited));
    const content = emptyRecord<MediaType>();
    for (const type of keysOf(value, 'content')) {
      const place = joinPointer(pointer, 'content', type);
      content[mediaTypeName(type)] = { holder: place, ...readSchema(document, place), examples: readExamples(document, place) };
    }
    const headers = emptyRecord<Header>();
    for (const name of keysOf(value, 'headers')) {
      headers[name.toLowerCase()] = readHeader(document, joinPointer(pointer, 'headers', name), provenance);
    }
    responses[status] = {
      holder: pointer,
      description: text(value['description']) ?? '',
      provenance,
      content,
      headers,
      links: readLinks(document, { pointer, value }),
    };
  }
  return responses;
}

function readLinks(document: OpenApiDocument, response: Resolved): readonly Link[] {
  const links: Link[] = [];
  for (const name of keysOf(response.value, 'links')) {
    const { value } = resolve(document, joinPointer(response.pointer, 'links', name));
    const operationId = text(value['operationId']);
    if (operationId === undefined) continue;
    const parameters = emptyRecord<string>();
    for (const [parameter, expression] of Object.entries(asObject(value['parameters']))) {
      // A name may be qualified by its place: "path.vmid".
      if (typeof expression === 'string') parameters[parameter.replace(/^(?:path|query|header|cookie)\./, '')] = expression;
    }
    links.push({ operationId, parameters });
  }
  return links;
}

/** The first requirement that is an API key in a header; alternatives in other places are not what this engine sends. */
function readSecurity(document: OpenApiDocument, operation: JsonObject): Security | undefined {
  const requirements = Array.isArray(operation['security']) ? operation['security'] : (document.security ?? []);
  for (const requirement of requirements) {
    for (const scheme of isObject(requirement) ? Object.keys(requirement) : []) {
      const { value } = resolve(document, joinPointer('/components/securitySchemes', scheme));
      const header = text(value['name']);
      if (value['type'] === 'apiKey' && value['in'] === 'header' && header !== undefined) return { scheme, header };
    }
  }
  return undefined;
}

/** A media type without its parameters, in lower case. */
export function mediaTypeName(contentType: string): string {
  return (contentType.split(';', 1)[0] ?? '').trim().toLowerCase();
}

/** What an operation documents for a status: the exact code, else its class (`4XX`), else `default`. */
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

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}
