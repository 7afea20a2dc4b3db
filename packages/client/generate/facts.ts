/** Reads the facts about an operation from the document, as `src/runtime/operation.ts` declares them. */
import { constraintsOf, ruleProvenance } from '@reseller/contract';
import type { FormField, OpenApiDocument, Operation } from '@reseller/contract';

import type { Field, FieldType, Operation as Facts } from '../src/runtime/operation.ts';
import { follow, items, members } from './json.ts';
import { MAP_KEYS } from './places.ts';

export function factsOf(document: OpenApiDocument, operation: Operation): Facts {
  const { id, billable, readOnly, retry, form, parameters } = operation;
  const keyed = parameters.some(({ name }) => name === 'Idempotency-Key');
  // Without a key, the client could not repeat such an operation after a lost response.
  if (retry === 'never' && !keyed)
    throw new Error(`${id} must not be sent twice and takes no Idempotency-Key. The client could not repeat it.`);
  const data = dataSchemaOf(document, operation);
  const list = listOf(document, id, data);
  const instants = pathsOfInstants(document, data).map((path) => shapedPath(path, list));
  return {
    id,
    effect: readOnly ? 'read' : billable ? 'purchase' : 'write',
    ...(retry === 'safe' && { repeatable: true }),
    ...(keyed && { keyed }),
    ...(form && { form: Object.fromEntries([...form.fields].map(([name, field]) => [name, fieldOf(document, operation, field)])) }),
    ...(isOpenForm(operation) && { openForm: true }),
    ...(list && { list }),
    ...(instants.length > 0 && { instants }),
  };
}

function fieldOf(document: unknown, operation: Operation, field: FormField): Field {
  const { id, form } = operation;
  const { name, secret, pointer } = field;
  const required = field.required && isShown(form?.schema, 'required');
  const schema = members(follow(document, { $ref: `#${pointer}` }));
  const needs = neededWith(form?.schema, name);
  return {
    type: typeOf(id, field),
    ...(required && { required }),
    ...(secret && { secret }),
    ...(schema['x-personal'] === true && { personal: true }),
    ...(needs.length > 0 && { needs }),
  };
}

function neededWith(schema: unknown, name: string): readonly string[] {
  return isShown(schema, 'dependentRequired') ? items(members(members(schema)['dependentRequired'])[name]).map(String) : [];
}

/** Whether the specification does not show the fields of a form. The form may then have further ones. */
export function isOpenForm({ form }: Operation): boolean {
  return form !== undefined && members(form.schema)['x-provenance'] === 'not-shown';
}

/** Whether the specification shows a rule of a form. The server checks all other rules. */
function isShown(form: unknown, keyword: string): boolean {
  const schema = members(form);
  const provenance = schema['x-provenance'] === 'not-shown' ? 'not-shown' : 'shown';
  return ruleProvenance({ schema, provenance, constraints: constraintsOf(schema, undefined) }, keyword, 'shown') !== 'not-shown';
}

function typeOf(id: string, { name, kind }: FormField): FieldType {
  if (kind === 'array' || kind === 'json' || kind === 'unsupported') {
    throw new Error(
      `The field ${name} of ${id} is of the kind ${kind}. Teach src/runtime/form.ts to encode it, and src/reconcile.ts to compare it.`,
    );
  }
  return kind;
}

/** The schema of `data` in the operation's successful response. */
export function dataSchemaOf(document: unknown, { responses }: Operation): unknown {
  const schema = responses['200']?.content['application/json']?.schema;
  return partsOf(document, schema)
    .map((part) => members(part['properties'])['data'])
    .find((data) => data !== undefined);
}

/** A schema behind its reference, and the schemas of its `allOf`, `anyOf` and `oneOf`. */
function partsOf(document: unknown, schema: unknown): readonly Readonly<Record<string, unknown>>[] {
  const part = members(follow(document, schema));
  return [
    part,
    ...[...items(part['allOf']), ...items(part['anyOf']), ...items(part['oneOf'])].flatMap((below) => partsOf(document, below)),
  ];
}

/** The list in the data of a response: the only property of an object, or a map that `MAP_KEYS` names. */
function listOf(document: unknown, id: string, data: unknown): Facts['list'] {
  const keyedBy = MAP_KEYS[id];
  if (keyedBy !== undefined) return { keyedBy };
  const [only, ...others] = partsOf(document, data).flatMap((part) => Object.entries(members(part['properties'])));
  if (!only || others.length > 0) return undefined;
  const [property, schema] = only;
  return members(follow(document, schema))['type'] === 'array' ? { property } : undefined;
}

/** Whether an operation returns its list in pages: its form has the field `offset`. */
export function isPaged({ form }: Operation): boolean {
  return form?.fields.has('offset') ?? false;
}

/** The paths of the instants (`date-time`) in a value of the schema, such as `list.*.renew`. */
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

/** The path in the result of the client, which returns a list as an array. */
function shapedPath(path: string, list: Facts['list']): string {
  return list && 'property' in list ? path.slice(list.property.length + 1) : path;
}
