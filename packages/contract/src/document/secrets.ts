import type { OpenApiDocument } from './document.ts';
import { emptyRecord, isObject } from './json.ts';
import { valueAt } from './pointer.ts';
import { rootView, visitViews } from './view.ts';
import type { View } from './view.ts';

/** The text that replaces a secret. */
export const MASK = '***';

/**
 * Replaces every property with `x-secret` by `***` in a copy of a value. Null stays null, because it means that there is no
 * secret. Returns the same value when there is nothing to mask.
 * @param pointer JSON pointer to the schema that describes the value
 * @throws {DocumentError} when there is no schema at the pointer
 */
export function maskSecrets(document: OpenApiDocument, pointer: string, value: unknown): unknown {
  return masked(rootView(document, pointer), value);
}

/** The names of all properties with `x-secret` in a document. */
export function secretNames(document: OpenApiDocument): ReadonlySet<string> {
  return markedNames(document, 'x-secret');
}

/** The names of all properties in a document that have a mark, such as `x-personal`. */
export function markedNames(document: OpenApiDocument, mark: string): ReadonlySet<string> {
  const names = new Set<string>();
  function addNames(node: unknown): void {
    if (Array.isArray(node)) return node.forEach(addNames);
    if (!isObject(node)) return;
    const properties = node['properties'];
    if (isObject(properties)) {
      for (const [name, property] of Object.entries(properties)) {
        const target = isObject(property) && typeof property['$ref'] === 'string' ? valueAt(document, property['$ref'].slice(1)) : property;
        if (isObject(target) && target[mark] === true) names.add(name);
      }
    }
    Object.values(node).forEach(addNames);
  }
  addNames(document);
  return names;
}

/** Whether there can be a secret in values of a view. */
const live = new WeakMap<View, boolean>();

function canHaveSecret(view: View): boolean {
  const known = live.get(view) ?? visitViews(view, isSecret);
  live.set(view, known);
  return known;
}

function isSecret({ nodes }: View): boolean {
  return nodes.some(({ schema }) => schema['x-secret'] === true);
}

function masked(view: View, value: unknown): unknown {
  if (value === null || value === undefined || !canHaveSecret(view)) return value;
  if (isSecret(view)) return MASK;
  if (Array.isArray(value)) {
    const items = value.map((item, index) => masked(view.member(index).view, item));
    return items.some((item, index) => item !== value[index]) ? items : value;
  }
  if (!isObject(value)) return value;
  let copy: Record<string, unknown> | undefined;
  for (const [name, member] of Object.entries(value)) {
    const below = masked(view.member(name).view, member);
    if (below === member) continue;
    copy ??= Object.assign(emptyRecord<unknown>(), value);
    copy[name] = below;
  }
  return copy ?? value;
}
