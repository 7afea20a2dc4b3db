import type { UserContext } from '@redocly/openapi-core';

import { entriesOf, type Fields, isFields } from './nodes.ts';

type Location = UserContext['location'];
export type FoundSchema = { schema: Fields; location: Location };

const SINGLE = ['items', 'contains', 'additionalProperties', 'unevaluatedProperties', 'propertyNames', 'not', 'if', 'then', 'else'];
const LISTS = ['allOf', 'anyOf', 'oneOf', 'prefixItems'];
const MAPS = ['properties', 'patternProperties', 'dependentSchemas'];

/**
 * A schema and all schemas that it is made of, through references, each once.
 * Redocly visits a shared schema only where it meets it first, which does not tell whether an answer, a form or both use it.
 */
export function schemasWithin(schema: unknown, location: Location, resolve: UserContext['resolve']): FoundSchema[] {
  const found = new Map<string, FoundSchema>();
  collect(schema, location);
  return [...found.values()];

  function collect(node: unknown, at: Location): void {
    if (!isFields(node)) return;
    const target = resolve<Record<string, unknown>>(node, at.source.absoluteRef);
    if (!isFields(target.node) || !target.location) return;
    // What is not a reference resolves to itself, without its place.
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

/** Every schema of a body, by whatever media type. */
export function schemasOfContent(content: unknown, location: Location, resolve: UserContext['resolve']): FoundSchema[] {
  return entriesOf(content).flatMap(([mediaType, media]) =>
    isFields(media) ? schemasWithin(media['schema'], location.child(['content', mediaType, 'schema']), resolve) : [],
  );
}
