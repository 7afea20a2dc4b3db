import { OUTERMOST, scopeOf } from './constraints.ts';
import type { Scope } from './constraints.ts';
import { entriesOf, isFields, isReference } from './nodes.ts';
import type { Fields } from './nodes.ts';

/** A place in a document, such as Redocly's `Location`. */
export interface Place<Self> {
  readonly absolutePointer: string;
  child(keys: (string | number)[] | string | number): Self;
}

export type Kind = 'path' | 'operation' | 'parameter' | 'body' | 'response' | 'header' | 'media' | 'schema';

/** A part of a document, and its inherited provenance. */
export interface Part<At> {
  readonly kind: Kind;
  /** The method and path of its operation: `PUT /vm/create`. */
  readonly operation: string;
  readonly node: Fields;
  readonly location: At;
  /** The scope of the part, including its own keys. */
  readonly scope: Scope;
}

/** Access to a document. */
export interface Reading<At> {
  readonly root: { readonly node: Fields; readonly location: At };
  /** Resolves the reference in a part. */
  readonly resolve: (part: Fields, at: At) => { readonly node: unknown; readonly location?: At | undefined };
}

const METHODS: ReadonlySet<string> = new Set(['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace']);

/** The keywords of each kind that hold one part, a list of parts, or a map of parts, each with the kind of those parts. */
type Keywords = Readonly<Partial<Record<Kind, Readonly<Record<string, Kind>>>>>;
const SINGLE: Keywords = {
  operation: { requestBody: 'body' },
  parameter: { schema: 'schema' },
  header: { schema: 'schema' },
  media: { schema: 'schema' },
  schema: schemas('items contains propertyNames not if then else additionalProperties unevaluatedProperties unevaluatedItems'),
};
const LISTS: Keywords = {
  path: { parameters: 'parameter' },
  operation: { parameters: 'parameter' },
  schema: schemas('allOf anyOf oneOf prefixItems'),
};
const MAPS: Keywords = {
  operation: { responses: 'response' },
  parameter: { content: 'media' },
  body: { content: 'media' },
  response: { content: 'media', headers: 'header' },
  header: { content: 'media' },
  schema: schemas('properties patternProperties dependentSchemas'),
};

function schemas(keywords: string): Readonly<Record<string, Kind>> {
  return Object.fromEntries(keywords.split(' ').map((keyword) => [keyword, 'schema']));
}

/**
 * Visits all parts of each operation of a document, through references. A part is visited once for each operation and scope,
 * because its inherited provenance depends on the path that leads to it.
 */
export function visitParts<At extends Place<At>>({ root, resolve }: Reading<At>, visit: (part: Part<At>) => void): void {
  for (const [path, item] of entriesOf(root.node['paths'])) {
    const at = root.location.child(['paths', path]);
    for (const method of METHODS) {
      const seen = new Set<string>();
      function step(kind: Kind, node: unknown, location: At, outer: Scope): void {
        if (!isFields(node)) return;
        const scope = scopeOf(node, outer);
        const key = `${kind} ${location.absolutePointer} ${scope.provenance} ${scope.constraints}`;
        if (seen.has(key)) return;
        seen.add(key);
        visit({ kind, operation: `${method.toUpperCase()} ${path}`, node, location, scope });
        if (isReference(node)) {
          const target = resolve(node, location);
          if (target.location !== undefined) step(kind, target.node, target.location, scope);
        }
        if (kind === 'path') step('operation', node[method], location.child(method), scope);
        for (const [childKind, keys, child] of childrenOf(kind, node)) step(childKind, child, location.child(keys), scope);
      }
      if (hasMethod(item, at, method)) step('path', item, at, OUTERMOST);
    }
  }

  function hasMethod(item: unknown, at: At, method: string): boolean {
    if (!isFields(item)) return false;
    const { node } = isReference(item) ? resolve(item, at) : { node: item };
    return isFields(node) && isFields(node[method]);
  }
}

function childrenOf(kind: Kind, node: Fields): (readonly [Kind, (string | number)[], unknown])[] {
  const found: (readonly [Kind, (string | number)[], unknown])[] = [];
  for (const [key, child] of Object.entries(SINGLE[kind] ?? {})) found.push([child, [key], node[key]]);
  for (const [key, child] of Object.entries(LISTS[kind] ?? {})) {
    const list = node[key];
    if (Array.isArray(list)) found.push(...list.map((item, index): (typeof found)[number] => [child, [key, index], item]));
  }
  for (const [key, child] of Object.entries(MAPS[kind] ?? {}))
    found.push(...entriesOf(node[key]).map(([name, item]): (typeof found)[number] => [child, [key, name], item]));
  return found;
}
