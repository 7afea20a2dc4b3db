import type { UserContext } from '@redocly/openapi-core';

import { entriesOf, isFields } from './nodes.ts';
import type { Fields } from './nodes.ts';

export type Location = UserContext['location'];
export interface FoundSchema {
  schema: Fields;
  location: Location;
}

const SINGLE = ['items', 'contains', 'additionalProperties', 'unevaluatedProperties', 'propertyNames', 'not', 'if', 'then', 'else'];
const LISTS = ['allOf', 'anyOf', 'oneOf', 'prefixItems'];
const MAPS = ['properties', 'patternProperties', 'dependentSchemas'];

/**
 * A schema and all of its subschemas, through references, each once.
 * Redocly visits a shared schema only at its first use, so its visitors cannot know whether a response, a form or both use it.
 */
export function schemasWithin(schema: unknown, location: Location, resolve: UserContext['resolve']): FoundSchema[] {
  const found = new Map<string, FoundSchema>();
  collect(schema, location);
  return [...found.values()];

  function collect(node: unknown, at: Location): void {
    if (!isFields(node)) return;
    const target = resolve<Record<string, unknown>>(node, at.source.absoluteRef);
    if (!isFields(target.node) || !target.location) return;
    // A node that is not a reference resolves to itself, without a location.
    const place = '$ref' in node ? target.location : at;
    if (found.has(place.absolutePointer)) return;
    const resolved = target.node;
    found.set(place.absolutePointer, { schema: resolved, location: place });
    for (const key of SINGLE) collect(resolved[key], place.child(key));
    for (const key of LISTS) {
      const list = resolved[key];
      if (Array.isArray(list)) list.forEach((item, index) => collect(item, place.child([key, index])));
    }
    for (const key of MAPS) {
      for (const [name, item] of entriesOf(resolved[key])) collect(item, place.child([key, name]));
    }
  }
}

/** Every schema of a body, for all media types. */
export function schemasOfContent(content: unknown, location: Location, resolve: UserContext['resolve']): FoundSchema[] {
  return entriesOf(content).flatMap(([mediaType, media]) =>
    isFields(media) ? schemasWithin(media['schema'], location.child(['content', mediaType, 'schema']), resolve) : [],
  );
}
