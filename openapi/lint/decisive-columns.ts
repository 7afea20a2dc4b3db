import type { Oas3Rule, UserContext } from '@redocly/openapi-core';

import { entriesOf, isFields } from './nodes.ts';
import type { Fields } from './nodes.ts';

type Resolve = UserContext['resolve'];
interface Node {
  readonly schema: Fields;
  readonly source: string;
}

/** Values of an item that a table shows without help. */
const FEW_VALUES = 8;
/** Schemas that refer to themselves end here. */
const MAX_DEPTH = 6;

/** The columns of a list are values of its items, and lists with many values name their columns. */
export const decisiveColumns: Oas3Rule = () => ({
  Response(response, { key, report, location, resolve }) {
    const columns: unknown = Reflect.get(response, 'x-columns');
    const content = entriesOf(response.content).find(([mediaType]) => mediaType === 'application/json')?.[1];
    const root = isFields(content) ? nodesOf(content['schema'], location.source.absoluteRef, resolve) : [];
    const known = itemsOf(root, resolve);
    if (Array.isArray(columns)) {
      for (const [index, name] of columns.entries()) {
        if (known.includes(String(name))) continue;
        report({
          message: `x-columns names ${String(name)}, which the items of the list do not have. They have: ${known.join(', ') || 'no items'}.`,
          location: location.child(['x-columns', index]),
        });
      }
    } else if (String(key) === '200' && known.length > FEW_VALUES) {
      report({
        message: `The items of the list have ${known.length} values. Name those that decide between items in x-columns.`,
        location: location.key(),
      });
    }
  },
});

/** The names of the values of the items of the list that is the data, or a property of it. */
function itemsOf(root: readonly Node[], resolve: Resolve): string[] {
  const data = membersOf(root, resolve).get('data') ?? root;
  for (const nodes of [data, ...['list', 'items', 'events', 'deliveries'].map((name) => membersOf(data, resolve).get(name) ?? [])]) {
    const items = nodes.flatMap(({ schema, source }) => nodesOf(schema['items'], source, resolve));
    if (items.length > 0) return columnsOf(items, resolve, 0);
  }
  return [];
}

function columnsOf(nodes: readonly Node[], resolve: Resolve, depth: number): string[] {
  if (depth > MAX_DEPTH) return [];
  return [...membersOf(nodes, resolve)].flatMap(([name, inner]) => {
    const names = columnsOf(inner, resolve, depth + 1);
    return names.length === 0 ? [name] : names.map((one) => `${name}.${one}`);
  });
}

function membersOf(nodes: readonly Node[], resolve: Resolve): Map<string, readonly Node[]> {
  const found = new Map<string, readonly Node[]>();
  for (const { schema, source } of nodes) {
    for (const [name, value] of entriesOf(schema['properties'])) {
      found.set(name, [...(found.get(name) ?? []), ...nodesOf(value, source, resolve)]);
    }
  }
  return found;
}

/** A schema with those that apply at the same place, through references. */
function nodesOf(written: unknown, from: string, resolve: Resolve): Node[] {
  if (!isFields(written)) return [];
  const target = resolve<Record<string, unknown>>(written, from);
  if (!isFields(target.node)) return [];
  const schema = target.node;
  const source = '$ref' in written && target.location ? target.location.source.absoluteRef : from;
  const parts = ['allOf', 'anyOf', 'oneOf'].flatMap((keyword) => (Array.isArray(schema[keyword]) ? schema[keyword] : []));
  return [{ schema, source }, ...parts.flatMap((part: unknown) => nodesOf(part, source, resolve))];
}
