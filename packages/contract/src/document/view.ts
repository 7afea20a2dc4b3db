import type { OpenApiDocument } from './document.ts';
import { isObject } from './json.ts';
import { joinPointer } from './pointer.ts';
import type { Provenance } from './provenance.ts';
import { childNodes, keysOf, schemaNodes } from './schema.ts';
import type { SchemaNode } from './schema.ts';

/**
 * The schemas of one kind of value. Views are cached for each set of schemas, so that a long list costs one map access for each
 * item.
 */
export interface View {
  readonly nodes: readonly SchemaNode[];
  /** Returns the view of a member or an item, and whether a schema names it. */
  member(key: string | number): Member;
  /** The views of all members and items that the schemas describe. */
  below(): readonly View[];
}

export interface Member {
  readonly view: View;
  readonly isNamed: boolean;
}

interface Views {
  readonly document: OpenApiDocument;
  readonly roots: Map<string, View>;
  readonly byNodes: Map<string, View>;
}

/** Keywords with the schema of members or items that no other keyword describes. */
const REST = ['additionalProperties', 'unevaluatedProperties', 'items', 'unevaluatedItems'] as const;

const viewsOf = new WeakMap<OpenApiDocument, Views>();

/**
 * The view of the schema at a pointer.
 * @param inherited provenance of the place that uses the schema
 */
export function rootView(document: OpenApiDocument, pointer: string, inherited: Provenance = 'shown'): View {
  let views = viewsOf.get(document);
  if (views === undefined) {
    views = { document, roots: new Map(), byNodes: new Map() };
    viewsOf.set(document, views);
  }
  const key = `${inherited} ${pointer}`;
  const known = views.roots.get(key);
  if (known !== undefined) return known;
  const made = viewOf(views, schemaNodes(document, pointer, inherited));
  views.roots.set(key, made);
  return made;
}

function viewOf(views: Views, nodes: readonly SchemaNode[]): View {
  const key = nodes.map((node) => `${node.provenance} ${node.constraints} ${node.pointer}`).join('\n');
  const known = views.byNodes.get(key);
  if (known !== undefined) return known;
  const made = makeView(views, nodes);
  views.byNodes.set(key, made);
  return made;
}

function makeView(views: Views, nodes: readonly SchemaNode[]): View {
  const names = new Set(nodes.flatMap(({ schema }) => keysOf(schema, 'properties')));
  // Without these keywords, all unnamed keys and all indexes have the same schemas.
  const isUniform = nodes.every(({ schema }) => keysOf(schema, 'patternProperties').length === 0 && schema['prefixItems'] === undefined);
  const named = new Map<string | number, Member>();
  let anyKey: Member | undefined;
  let anyItem: Member | undefined;
  function make(key: string | number, isNamed: boolean): Member {
    return {
      view: viewOf(views, childNodes(views.document, nodes, key)),
      isNamed,
    };
  }
  function below(): readonly View[] {
    const described = [...names].map((name) => make(name, true).view);
    for (const { pointer, schema, provenance, constraints } of nodes) {
      const prefix = Array.isArray(schema['prefixItems']) ? [...schema['prefixItems'].keys()] : [];
      const places = [
        ...keysOf(schema, 'patternProperties').map((pattern) => joinPointer(pointer, 'patternProperties', pattern)),
        ...prefix.map((index) => joinPointer(pointer, 'prefixItems', index)),
        ...REST.filter((keyword) => isObject(schema[keyword])).map((keyword) => joinPointer(pointer, keyword)),
      ];
      described.push(...places.map((place) => viewOf(views, schemaNodes(views.document, place, provenance, constraints))));
    }
    return described;
  }
  let known: readonly View[] | undefined;
  return {
    nodes,
    below: () => (known ??= below()),
    member(key) {
      const isNamed = typeof key === 'string' && names.has(key);
      if (isUniform && !isNamed) {
        if (typeof key === 'number') return (anyItem ??= make(key, false));
        return (anyKey ??= make(key, false));
      }
      const cached = named.get(key);
      if (cached !== undefined) return cached;
      const made = make(key, isNamed);
      // The number of unnamed keys is unbounded, so they are not cached.
      if (isNamed) named.set(key, made);
      return made;
    },
  };
}

/** Visits the views below a schema, each once. Stops and returns true as soon as `isMatch` does. */
export function visitViews(root: View, isMatch: (view: View) => boolean): boolean {
  const found = new Set([root]);
  for (const view of found) {
    if (isMatch(view)) return true;
    for (const below of view.below()) found.add(below);
  }
  return false;
}
