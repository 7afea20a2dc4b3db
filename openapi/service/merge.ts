import { isDeepStrictEqual } from 'node:util';

import { entriesOf, isFields, isText } from '../lint/nodes.ts';
import type { Fields } from '../lint/nodes.ts';
import { applyAction } from './overlay.ts';
import type { OverlayAction } from './overlay.ts';

/**
 * One document of the specification's operations and those of the extension.
 *
 * @param base - the bundle of openapi.yaml
 * @param extension - the bundle of extension.yaml
 * @param actions - what the extension adds to operations of the specification
 * @throws Error if both documents define a part differently, or an action cannot be applied
 */
export function mergeDocuments(base: Fields, extension: Fields, actions: readonly OverlayAction[]): Fields {
  const merged: Fields = {
    ...base,
    info: { ...fieldsOf(base['info']), description: [base, extension].map(descriptionOf).join('\n\n') },
    tags: mergedTags(base['tags'], extension['tags']),
    paths: union(base['paths'], extension['paths'], 'path'),
    ...(extension['webhooks'] !== undefined && { webhooks: extension['webhooks'] }),
    components: mergedComponents(base['components'], extension['components']),
  };
  return actions.reduce(applyAction, merged);
}

function mergedComponents(base: unknown, extension: unknown): Fields {
  const kinds = new Set([...entriesOf(base), ...entriesOf(extension)].map(([kind]) => kind));
  return Object.fromEntries([...kinds].map((kind) => [kind, union(fieldsOf(base)[kind], fieldsOf(extension)[kind], kind)]));
}

/** Both maps. Entries with the same name must be equal, because each document describes it for itself. */
function union(one: unknown, other: unknown, kind: string): Fields {
  for (const [name, value] of entriesOf(other)) {
    const present = fieldsOf(one)[name];
    if (present !== undefined && !isDeepStrictEqual(present, value)) {
      throw new Error(`openapi.yaml and extension.yaml have different definitions of ${name} (${kind}). Give one of them another name.`);
    }
  }
  return { ...fieldsOf(one), ...fieldsOf(other) };
}

function mergedTags(base: unknown, extension: unknown): unknown[] {
  const tags = [base, extension].flatMap((list) => (Array.isArray(list) ? list : []));
  const names = tags.map((tag: unknown) => fieldsOf(tag)['name']);
  return tags.filter((_tag, position) => names.indexOf(names[position]) === position);
}

function descriptionOf(document: Fields): string {
  const { description } = fieldsOf(document['info']);
  return isText(description) ? description.trim() : '';
}

function fieldsOf(value: unknown): Fields {
  return isFields(value) ? value : {};
}
