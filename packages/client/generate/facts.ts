/** Reads the facts about an operation from the document, as `src/runtime/operation.ts` declares them. */
import { constraintsOf, repeatsOf, ruleProvenance } from '@reseller/contract';
import type { FormField, OpenApiDocument, Operation } from '@reseller/contract';

import type { FieldType, Operation as Facts } from '../src/runtime/operation.ts';
import { follow, isNumeric, items, members } from './json.ts';

/** Lists that the API sends as a map, and the name of the key in each item. */
const MAP_KEYS: Readonly<Record<string, string>> = {
  listInvoices: 'invoiceID',
};

export function factsOf(document: OpenApiDocument, operation: Operation): Facts {
  const { id, billable, readOnly, retry, form, parameters } = operation;
  // Without a key, the client could not repeat such an operation after a lost response.
  if (retry === 'never' && !parameters.some(({ name }) => name === 'Idempotency-Key'))
    throw new Error(`${id} must not be sent twice and takes no Idempotency-Key. The client could not repeat it.`);
  const data = dataSchemaOf(document, operation);
  const list = listOf(document, id, data);
  const has = identifyingProperty(document, data);
  // The first property is the envelope's `data`.
  const repeats = repeatsOf(document, operation).map(({ name, path: [, ...path] }) => [name, path.join('.')] as const);
  return {
    id,
    effect: readOnly ? 'read' : billable ? 'purchase' : 'write',
    ...(retry === 'safe' && { repeatable: true }),
    ...(form && formFactsOf(document, operation, [...form.fields.values()])),
    ...(isOpenForm(operation) && { openForm: true }),
    ...(list && { list }),
    ...(!list && has !== undefined && { has, ...(!readOnly && typeOfProperty(document, data, has)) }),
    ...(repeats.length > 0 && { repeats: Object.fromEntries(repeats) }),
    ...evidenceOf(document, operation),
  };
}

function formFactsOf(document: unknown, { id, form }: Operation, fields: readonly FormField[]): Partial<Facts> {
  function fieldNames(isMeant: (field: FormField) => boolean): string[] {
    return fields.filter(isMeant).map(({ name }) => name);
  }
  const required = isShown(form?.schema, 'required') ? fieldNames((field) => field.required) : [];
  const hidden = fieldNames(({ secret, pointer }) => secret || members(follow(document, { $ref: `#${pointer}` }))['x-personal'] === true);
  const needs = fields.map(({ name }) => [name, neededWith(form?.schema, name)] as const).filter(([, needed]) => needed.length > 0);
  return {
    form: Object.fromEntries(fields.map((field) => [field.name, typeOf(document, id, field)])),
    ...(required.length > 0 && { required }),
    ...(needs.length > 0 && { needs: Object.fromEntries(needs) }),
    ...(hidden.length > 0 && { hidden }),
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

function typeOf(document: unknown, id: string, { name, kind, pointer }: FormField): FieldType {
  if (kind === 'array' || kind === 'json' || kind === 'unsupported') {
    throw new Error(
      `The field ${name} of ${id} is of the kind ${kind}. Teach src/runtime/form.ts to encode it, and src/reconcile.ts to compare it.`,
    );
  }
  const { pattern, 'x-pairs': isPairs } = members(follow(document, { $ref: `#${pointer}` }));
  if (kind === 'string' && isPairs === true) return 'pairs';
  return kind === 'string' && isNumeric(pattern) ? 'numeric' : kind;
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

/** A property that every response of the operation has, and few responses of other operations: the first required one. */
export function identifyingProperty(document: unknown, data: unknown): string | undefined {
  const [first] = partsOf(document, data).flatMap((part) => items(part['required']));
  return typeof first === 'string' ? first : undefined;
}

/** The type and the range that a property of `data` always has. */
function typeOfProperty(document: unknown, data: unknown, name: string): Pick<Facts, 'hasType' | 'hasRange'> {
  const schema = partsOf(document, data)
    .map((part) => members(part['properties'])[name])
    .find((property) => property !== undefined);
  const { type, minimum, maximum, 'x-constraints': constraints } = members(follow(document, schema));
  const isShownRange = constraints === 'shown' && typeof minimum === 'number' && typeof maximum === 'number';
  if (type === 'integer' || type === 'number') return { hasType: 'number', ...(isShownRange && { hasRange: [minimum, maximum] }) };
  return type === 'string' || type === 'object' ? { hasType: type } : {};
}

/** The value that no second request can have and succeed (`x-evidence`). */
function evidenceOf(document: unknown, { id, pointer, form, parameters }: Operation): Pick<Facts, 'evidence'> {
  const evidence = members(follow(document, { $ref: `#${pointer}` }))['x-evidence'];
  if (typeof evidence !== 'string') return {};
  const isOfPath = parameters.some((parameter) => parameter.in === 'path' && parameter.name === evidence);
  if (!isOfPath && form?.fields.has(evidence) !== true)
    throw new Error(`${id} names ${evidence} as its evidence (x-evidence), which is neither a field nor a path parameter of it.`);
  return { evidence };
}
