import type { OpenApiDocument } from './document.ts';
import { emptyRecord, isObject } from './json.ts';
import type { JsonObject } from './json.ts';
import { joinPointer, valueAt } from './pointer.ts';
import { childNodes, keysOf, schemaNodes } from './schema.ts';
import type { SchemaNode } from './schema.ts';

/** The text that replaces a secret. */
export const MASK = '***';

/** A cache of the masks of one document. */
interface Masks {
  readonly document: OpenApiDocument;
  readonly roots: Map<string, Mask>;
  readonly byNodes: Map<string, Mask>;
}

interface Mask {
  readonly nodes: readonly SchemaNode[];
  readonly secret: boolean;
  /** Whether there can be a secret here or below. */
  readonly live: boolean;
  readonly members: Map<string | number, Mask>;
}

const masksOf = new WeakMap<OpenApiDocument, Masks>();
/** Limits the cache, because the number of unnamed members is unbounded. */
const MAX_MEMBERS = 1_000;

/**
 * Replaces every property with `x-secret` by `***` in a copy of a value. Null stays null, because it means that there is no
 * secret. Returns the same value when there is nothing to mask.
 * @param pointer JSON pointer to the schema that describes the value
 * @throws {DocumentError} when there is no schema at the pointer
 */
export function maskSecrets(document: OpenApiDocument, pointer: string, value: unknown): unknown {
  const masks = masksFor(document);
  let root = masks.roots.get(pointer);
  if (root === undefined) {
    root = makeMask(masks, schemaNodes(document, pointer));
    masks.roots.set(pointer, root);
  }
  return apply(masks, root, value);
}

/** The names of all properties with `x-secret` in a document. */
export function secretNames(document: OpenApiDocument): ReadonlySet<string> {
  const names = new Set<string>();
  function visit(node: unknown): void {
    if (Array.isArray(node)) return node.forEach(visit);
    if (!isObject(node)) return;
    const properties = node['properties'];
    if (isObject(properties)) {
      for (const [name, property] of Object.entries(properties)) {
        const target = isObject(property) && typeof property['$ref'] === 'string' ? valueAt(document, property['$ref'].slice(1)) : property;
        if (isObject(target) && target['x-secret'] === true) names.add(name);
      }
    }
    Object.values(node).forEach(visit);
  }
  visit(document);
  return names;
}

function masksFor(document: OpenApiDocument): Masks {
  let masks = masksOf.get(document);
  if (masks === undefined) {
    masks = { document, roots: new Map(), byNodes: new Map() };
    masksOf.set(document, masks);
  }
  return masks;
}

function makeMask(masks: Masks, nodes: readonly SchemaNode[]): Mask {
  const key = keyOf(nodes);
  const known = masks.byNodes.get(key);
  if (known !== undefined) return known;
  const secret = nodes.some(isSecret);
  const mask: Mask = { nodes, secret, live: secret || reachesSecret(masks.document, nodes, new Set()), members: new Map() };
  masks.byNodes.set(key, mask);
  return mask;
}

function apply(masks: Masks, mask: Mask, value: unknown): unknown {
  if (!mask.live || value === null || value === undefined) return value;
  if (mask.secret) return MASK;
  if (Array.isArray(value)) return applyToArray(masks, mask, value);
  return isObject(value) ? applyToObject(masks, mask, value) : value;
}

function applyToArray(masks: Masks, mask: Mask, value: readonly unknown[]): unknown {
  let copy: unknown[] | undefined;
  value.forEach((item, index) => {
    const masked = apply(masks, memberMask(masks, mask, index), item);
    if (masked === item) return;
    copy ??= [...value];
    copy[index] = masked;
  });
  return copy ?? value;
}

function applyToObject(masks: Masks, mask: Mask, value: JsonObject): unknown {
  let copy: Record<string, unknown> | undefined;
  for (const name of Object.keys(value)) {
    const masked = apply(masks, memberMask(masks, mask, name), value[name]);
    if (masked === value[name]) continue;
    copy ??= Object.assign(emptyRecord<unknown>(), value);
    copy[name] = masked;
  }
  return copy ?? value;
}

function memberMask(masks: Masks, mask: Mask, key: string | number): Mask {
  const known = mask.members.get(key);
  if (known !== undefined) return known;
  const made = makeMask(masks, childNodes(masks.document, mask.nodes, key));
  if (mask.members.size < MAX_MEMBERS) mask.members.set(key, made);
  return made;
}

function reachesSecret(document: OpenApiDocument, nodes: readonly SchemaNode[], seen: Set<string>): boolean {
  if (nodes.some(isSecret)) return true;
  const key = keyOf(nodes);
  if (seen.has(key)) return false;
  seen.add(key);
  return childSets(document, nodes).some((children) => reachesSecret(document, children, seen));
}

/** The schemas of all members and items that the nodes describe. */
function childSets(document: OpenApiDocument, nodes: readonly SchemaNode[]): readonly (readonly SchemaNode[])[] {
  const names = new Set(nodes.flatMap(({ schema }) => keysOf(schema, 'properties')));
  const sets = [...names].map((name) => childNodes(document, nodes, name));
  for (const { pointer, schema } of nodes) {
    for (const pattern of keysOf(schema, 'patternProperties'))
      sets.push(schemaNodes(document, joinPointer(pointer, 'patternProperties', pattern)));
    for (const keyword of ['additionalProperties', 'unevaluatedProperties', 'items', 'unevaluatedItems'] as const) {
      if (isObject(schema[keyword])) sets.push(schemaNodes(document, joinPointer(pointer, keyword)));
    }
    const prefix = schema['prefixItems'];
    if (Array.isArray(prefix))
      for (const index of prefix.keys()) sets.push(schemaNodes(document, joinPointer(pointer, 'prefixItems', index)));
  }
  return sets;
}

function isSecret({ schema }: SchemaNode): boolean {
  return schema['x-secret'] === true;
}

function keyOf(nodes: readonly SchemaNode[]): string {
  return nodes.map((node) => node.pointer).join('\n');
}
