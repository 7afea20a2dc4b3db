import { DocumentError } from './document.ts';
import type { OpenApiDocument } from './document.ts';
import type { Operation } from './operation.ts';
import { childNodes, keysOf, schemaNodes } from './schema.ts';
import type { SchemaNode } from './schema.ts';

/** A value of a request that its successful response repeats (`x-repeats`). */
export interface Repeat {
  /** Name of the form field or path parameter. */
  readonly name: string;
  /** The properties that lead to it in the response. */
  readonly path: readonly string[];
}

/**
 * The values of a change that its successful response repeats. Properties of list items are left out, because they belong to several resources.
 *
 * @throws {DocumentError} when `x-repeats` names a value that the request does not have
 */
export function repeatsOf(document: OpenApiDocument, { id, readOnly, form, parameters, responses }: Operation): readonly Repeat[] {
  const repeats: Repeat[] = [];
  function addRepeats(nodes: readonly SchemaNode[], path: readonly string[], above: ReadonlySet<string>): void {
    const fresh = nodes.filter(({ pointer }) => !above.has(pointer));
    const seen = new Set([...above, ...fresh.map(({ pointer }) => pointer)]);
    for (const property of new Set(fresh.flatMap(({ schema }) => keysOf(schema, 'properties')))) {
      const below = childNodes(document, fresh, property);
      const name = below.map(({ schema }) => schema['x-repeats']).find((value) => typeof value === 'string');
      if (name !== undefined) repeats.push({ name, path: [...path, property] });
      addRepeats(below, [...path, property], seen);
    }
  }
  const schema = responses['200']?.content['application/json']?.pointer;
  if (readOnly || schema === undefined) return repeats;
  addRepeats(schemaNodes(document, schema), [], new Set());
  const known = new Set([...(form?.fields.keys() ?? []), ...parameters.filter((each) => each.in === 'path').map((each) => each.name)]);
  for (const { name, path } of repeats) {
    if (known.has(name)) continue;
    throw new DocumentError(
      `The response to ${id} says that ${path.join('.')} repeats ${name} (x-repeats), which is neither a field nor a path parameter of the request. Name one of ${[...known].join(', ')}.`,
    );
  }
  return repeats;
}
