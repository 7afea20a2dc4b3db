/** What the document says of an operation, as `src/runtime/operation.ts` describes it. */
import type { FormField, OpenApiDocument, Operation } from '@reseller/contract';

import type { Field, FieldType, Operation as Facts } from '../src/runtime/operation.ts';
import { follow, items, members } from './json.ts';
import { MAP_KEYS } from './places.ts';

export function factsOf(document: OpenApiDocument, operation: Operation): Facts {
  const { id, billable, readOnly, retry, form, parameters } = operation;
  const keyed = parameters.some(({ name }) => name === 'Idempotency-Key');
  if (retry === 'never') assertReconcilable(operation, keyed);
  const data = dataSchemaOf(document, operation);
  const list = listOf(document, id, data);
  const pageSize = pageSizeOf(document, operation, data);
  const instants = pathsOfInstants(document, data).map((path) => shapedPath(path, list));
  return {
    id,
    effect: readOnly ? 'read' : billable ? 'purchase' : 'write',
    repeatable: retry === 'safe',
    keyed,
    ...(form && { form: Object.fromEntries([...form.fields].map(([name, field]) => [name, fieldOf(document, operation, field)])) }),
    ...(list && { list }),
    ...(pageSize !== undefined && { pageSize }),
    ...(instants.length > 0 && { instants }),
  };
}

/** After a lost response, such an operation is repeated by its key or looked up in the request log by its form. */
function assertReconcilable({ id, form }: Operation, keyed: boolean): void {
  if (!keyed) throw new Error(`${id} must not be sent twice and takes no Idempotency-Key. The client could not repeat it.`);
  if ([...(form?.fields.values() ?? [])].some(({ kind }) => kind === 'array')) {
    throw new Error(`${id} takes a list and must not be sent twice. Teach src/reconcile.ts to compare lists with the request log.`);
  }
}

function fieldOf(document: unknown, { id, form }: Operation, field: FormField): Field {
  const { name, required, secret, separator, pointer } = field;
  const schema = members(follow(document, { $ref: `#${pointer}` }));
  const needs = neededWith(form?.schema, name);
  return {
    type: typeOf(id, field, schema),
    ...(required && { required }),
    ...(secret && { secret }),
    ...(schema['x-personal'] === true && { personal: true }),
    ...(needs.length > 0 && { needs }),
    ...(field.kind === 'array' && { separator: separator ?? '&' }),
  };
}

/** `dependentRequired`, unless the specification does not show the rule: then only the server may apply it. */
function neededWith(schema: unknown, name: string): readonly string[] {
  const provenance = members(members(schema)['x-constraints'])['dependentRequired'];
  if (provenance === 'not-shown' || members(provenance)[name] === 'not-shown') return [];
  return items(members(members(schema)['dependentRequired'])[name]).map(String);
}

function typeOf(id: string, { name, kind, items: itemKind }: FormField, { format }: Readonly<Record<string, unknown>>): FieldType {
  const type = kind === 'array' ? itemKind : kind;
  if (type === 'json' || type === 'unsupported') {
    throw new Error(`The field ${name} of ${id} is of the kind ${type}. Teach src/runtime/form.ts to encode it.`);
  }
  return type === 'string' && (format === 'date' || format === 'date-time') ? format : type;
}

/** The schema of `data` in the operation's successful response. */
export function dataSchemaOf(document: unknown, { responses }: Operation): unknown {
  const schema = responses['200']?.content['application/json']?.schema;
  return partsOf(document, schema)
    .map((part) => members(part['properties'])['data'])
    .find((data) => data !== undefined);
}

/** A schema, followed, with all that it is composed of. */
function partsOf(document: unknown, schema: unknown): readonly Readonly<Record<string, unknown>>[] {
  const part = members(follow(document, schema));
  return [
    part,
    ...[...items(part['allOf']), ...items(part['anyOf']), ...items(part['oneOf'])].flatMap((below) => partsOf(document, below)),
  ];
}

/** An object whose only property is an array, or a map that `MAP_KEYS` calls a list. */
function listOf(document: unknown, id: string, data: unknown): Facts['list'] {
  const keyedBy = MAP_KEYS[id];
  if (keyedBy !== undefined) return { keyedBy };
  const [only, ...others] = partsOf(document, data).flatMap((part) => Object.entries(members(part['properties'])));
  if (!only || others.length > 0) return undefined;
  const [property, schema] = only;
  return members(follow(document, schema))['type'] === 'array' ? { property } : undefined;
}

/** A list comes in pages when its form takes an `offset`. */
function pageSizeOf(document: unknown, { id, form }: Operation, data: unknown): number | undefined {
  if (!form?.fields.has('offset')) return undefined;
  const size = partsOf(document, data)
    .map((part) => part['maxItems'])
    .find((value) => typeof value === 'number');
  if (size === undefined) throw new Error(`The document sets no maxItems for a page of ${id}.`);
  return size;
}

/** Where a value of the schema holds a `date-time`: `list.*.renew`. */
function pathsOfInstants(document: unknown, schema: unknown, path: readonly string[] = []): string[] {
  const found = partsOf(document, schema).flatMap((part) => [
    ...(part['format'] === 'date-time' && path.length > 0 ? [path.join('.')] : []),
    ...Object.entries(members(part['properties'])).flatMap(([name, property]) => pathsOfInstants(document, property, [...path, name])),
    ...pathsOfInstantsWithin(document, part['items'], path),
    ...pathsOfInstantsWithin(document, part['additionalProperties'], path),
  ]);
  return [...new Set(found)];
}

function pathsOfInstantsWithin(document: unknown, schema: unknown, path: readonly string[]): string[] {
  return typeof schema === 'object' ? pathsOfInstants(document, schema, [...path, '*']) : [];
}

/** The path in what the client returns, where a list is an array. */
function shapedPath(path: string, list: Facts['list']): string {
  return list && 'property' in list ? path.slice(list.property.length + 1) : path;
}
