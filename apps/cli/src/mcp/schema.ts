/** Input schemas of tools: complete and short, because a model reads them with every request. */
import { joinPointer, schemaNodes } from '@reseller/contract';
import type { OpenApiDocument, Operation } from '@reseller/contract';

import type { Api } from '../api.ts';
import { ANY_NAME, dataPointers, membersOf } from '../columns.ts';
import { descriptionAt, inputOptions, pathArguments } from '../input.ts';
import { firstSentence } from '../text.ts';

type Json = Record<string, unknown>;

/** The JSON schema of the input of a tool. */
export interface InputSchema extends Json {
  readonly type: 'object';
  readonly properties: Record<string, object>;
  readonly required: string[];
}

/** Keywords that help to choose a value. All others are checked by the client or the service, whose message says what is wrong. */
const KEPT = ['type', 'enum', 'const', 'minimum', 'maximum', 'minLength', 'maxLength', 'minItems', 'maxItems', 'default'];
const MAX_DEPTH = 6;

/** The schema of the path, query and body of an operation, with all references replaced by what they name. */
export function inputSchema(document: OpenApiDocument, operation: Operation): InputSchema {
  const properties: Record<string, object> = {};
  const required: string[] = [];
  for (const { name, pointer, holder } of pathArguments(operation)) {
    const schema = pointer === undefined ? { type: 'string' } : inlined(document, pointer);
    properties[name] = withDescription(schema, descriptionAt(document, holder));
    required.push(name);
  }
  const queries = new Map(operation.parameters.map((parameter) => [parameter.name, parameter.pointer]));
  for (const option of inputOptions(document, operation)) {
    const pointer = option.in === 'query' ? queries.get(option.name) : operation.body?.fields.get(option.name)?.pointer;
    properties[option.name] = withDescription(pointer === undefined ? {} : inlined(document, pointer), option.description);
    if (option.required) required.push(option.name);
  }
  return { type: 'object', properties, required, additionalProperties: false };
}

function withDescription(schema: Json, description: string): Json {
  const text = firstSentence(description);
  return text === '' ? schema : { ...schema, description: text };
}

function inlined(document: OpenApiDocument, pointer: string, depth = 0): Json {
  const nodes = schemaNodes(document, pointer);
  const result: Json = {};
  for (const { schema } of nodes) for (const name of KEPT) if (schema[name] !== undefined) result[name] ??= schema[name];
  const isOpen = nodes.some(({ schema }) => schema['x-seen'] === true);
  // The values of an open enumeration are examples: others are valid, too.
  if (isOpen && result['enum'] !== undefined) {
    result['examples'] = result['enum'];
    delete result['enum'];
  }
  const types = nodes.flatMap(({ schema }) => schema['type'] ?? []);
  if (types.length > 0) result['type'] = single([...new Set(types.flat())]);
  if (depth >= MAX_DEPTH) return result;
  for (const node of nodes) {
    const { properties, items, required } = node.schema;
    if (typeof properties === 'object' && properties !== null) {
      const members = Object.keys(properties).map((name) => [
        name,
        inlined(document, joinPointer(node.pointer, 'properties', name), depth + 1),
      ]);
      result['properties'] = { ...Object(result['properties']), ...Object.fromEntries(members) };
      if (Array.isArray(required)) result['required'] = required;
    }
    if (typeof items === 'object' && items !== null) result['items'] = inlined(document, `${node.pointer}/items`, depth + 1);
  }
  return result;
}

/** The JSON schema of the structured content of a tool. */
export interface OutputSchema extends Json {
  readonly type: 'object';
  readonly properties: Record<string, object>;
}

/** What a long result has in addition to the data of the service (`results.ts`). The total of an invoice remains its amount. */
const OF_PAGES = { total: { type: 'integer' }, next_offset: { type: 'integer' } };
/** The members of deeper objects have no types here. */
const MAX_OUTPUT_DEPTH = 2;

/**
 * The members of a result, with the types of plain values. An object or a list has no type, because a summary has `{ count }` in the place of
 * a list, and a text says where a list was cut. For the same reason, no member is required, and others are possible.
 *
 * @returns undefined if the result is not JSON, such as a table for bookkeeping
 */
export function outputSchema(api: Api, operation: Operation): OutputSchema | undefined {
  const pointers = dataPointers(api, operation);
  if (pointers.length === 0 && operation.readOnly) return undefined;
  const { items, properties } = shapeOf(api.document, pointers, 0);
  const members = items === undefined ? Object(properties) : { items: { type: 'array', items } };
  const isLong = JSON.stringify(members).includes('"items"');
  return { type: 'object', properties: { ...(isLong && OF_PAGES), ...members } };
}

function shapeOf(document: OpenApiDocument, pointers: readonly string[], depth: number): Json {
  const nodes = pointers.flatMap((pointer) => schemaNodes(document, pointer));
  const types = [...new Set(nodes.flatMap(({ schema }) => schema['type'] ?? []).flat())];
  if (!types.includes('array') && !types.includes('object')) return types.length === 0 ? {} : { type: single(types) };
  if (depth > MAX_OUTPUT_DEPTH) return {};
  if (types.includes('array')) {
    const items = nodes.flatMap((node) => (typeof node.schema['items'] === 'object' ? [joinPointer(node.pointer, 'items')] : []));
    return { items: shapeOf(document, items, depth + 1) };
  }
  const members = [...membersOf(document, pointers)].filter(([name]) => name !== ANY_NAME);
  return { properties: Object.fromEntries(members.map(([name, at]) => [name, shapeOf(document, at, depth + 1)])) };
}

function single(types: readonly unknown[]): unknown {
  return types.length === 1 ? types[0] : types;
}
