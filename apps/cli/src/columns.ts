/** The columns of tables: those that the document names, and those that a user may name. */
import { joinPointer, keysOf, schemaNodes, valueAt } from '@reseller/contract';
import type { OpenApiDocument, Operation } from '@reseller/contract';

import type { Api } from './api.ts';
import { Failure } from './failure.ts';

/** Schemas that refer to themselves end here. */
const MAX_DEPTH = 6;
/** The name of a member of a map, whose names are data: `positions.vms.*`. */
export const ANY_NAME = '*';

/** The columns that decide between the items of a list (`x-columns`); undefined if the document names none. */
export function decisiveColumns({ document }: Api, operation: Operation): readonly string[] | undefined {
  const { 'x-columns': columns }: { 'x-columns'?: unknown } = Object(valueAt(document, operation.responses['200']?.holder ?? ''));
  return Array.isArray(columns) ? columns.map(String) : undefined;
}

/** @throws Failure if no table of the result can have a column, with the names that it can have. */
export function checkColumns(api: Api, operation: Operation, given: readonly string[]): void {
  const known = columnNames(api, operation);
  // A list of texts, or nothing: there is no table.
  if (known.length === 0) return;
  const unknown = given.filter((name) => !known.some((one) => matches(one, name)));
  if (unknown.length === 0) return;
  const are = unknown.length === 1 ? 'is not a column' : 'are not columns';
  throw new Failure(`${unknown.join(', ')} ${are} of this result. Its columns are: ${known.join(', ')}.`);
}

/** The names of all columns of the tables of a result. */
export function columnNames(api: Api, operation: Operation): readonly string[] {
  const names = new Set<string>();
  collect(api.document, dataPointers(api, operation), '', names, 0);
  return [...names];
}

/** Pointers to the schemas of the result: the response of the operator API, or `data` in the envelope of the reseller API. */
export function dataPointers(api: Api, operation: Operation): readonly string[] {
  const success = Object.entries(operation.responses).find(([status]) => status.startsWith('2'))?.[1];
  const pointer = success?.content['application/json']?.pointer;
  if (pointer === undefined) return [];
  return api.name === 'operator' ? [pointer] : (membersOf(api.document, [pointer]).get('data') ?? []);
}

function matches(known: string, name: string): boolean {
  const [parts, given] = [known.split('.'), name.split('.')];
  return parts.length === given.length && parts.every((part, index) => part === ANY_NAME || part === given[index]);
}

/** The items of a list start a table, so their names have no prefix. */
function collect(document: OpenApiDocument, pointers: readonly string[], name: string, names: Set<string>, depth: number): void {
  if (depth > MAX_DEPTH) return;
  const items = pointers.flatMap((pointer) =>
    schemaNodes(document, pointer).flatMap((node) =>
      typeof node.schema['items'] === 'object' ? [joinPointer(node.pointer, 'items')] : [],
    ),
  );
  if (items.length > 0) collect(document, items, '', names, depth + 1);
  const members = membersOf(document, pointers);
  for (const [inner, at] of members) collect(document, at, name === '' ? inner : `${name}.${inner}`, names, depth + 1);
  if (members.size === 0 && name !== '') names.add(name);
}

/** Pointers to the schemas of each member of an object. */
export function membersOf(document: OpenApiDocument, pointers: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, readonly string[]>();
  for (const node of pointers.flatMap((pointer) => schemaNodes(document, pointer))) {
    const names = keysOf(node.schema, 'properties').map((name) => [name, joinPointer(node.pointer, 'properties', name)] as const);
    const rest = node.schema['additionalProperties'];
    const all =
      typeof rest === 'object' && rest !== null
        ? [...names, [ANY_NAME, joinPointer(node.pointer, 'additionalProperties')] as const]
        : names;
    for (const [name, at] of all) found.set(name, [...(found.get(name) ?? []), at]);
  }
  return found;
}
