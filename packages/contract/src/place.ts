import type { OpenApiDocument } from './document.ts';
import type { Issue } from './issues.ts';
import { joinPointer, pointerTokens, valueAt } from './pointer.ts';
import type { Provenance } from './provenance.ts';
import { childNodes, schemaNodes, type SchemaNode } from './schema.ts';

/** A description of a JSON body: where its schema stands, and what that place inherits. */
export interface Described {
  readonly pointer: string;
  readonly provenance: Provenance;
}

/**
 * The provenance of the fact that an issue contradicts, by the way the value takes through the schemas: what a reference
 * leads to inherits from where it is used.
 */
export function provenanceOfIssue(document: OpenApiDocument, described: Described, value: unknown, issue: Issue): Provenance {
  let nodes = schemaNodes(document, described.pointer, described.provenance);
  let provenance = strongest(nodes) ?? described.provenance;
  const rule = issue.schemaPath.slice(0, issue.schemaPath.lastIndexOf('/'));
  let at = value;
  for (const token of pointerTokens(issue.path)) {
    nodes = childNodes(document, nodes, Array.isArray(at) ? Number(token) : token);
    at = valueAt(at, joinPointer('', token));
    provenance = strongest(nodes) ?? provenance;
  }
  return nodes.find((node) => node.pointer === rule)?.provenance ?? provenance;
}

/** Where several schemas describe one value, the firmest of them stands for all. */
function strongest(nodes: readonly SchemaNode[]): Provenance | undefined {
  for (const provenance of ['shown', 'inferred', 'not-shown'] as const)
    if (nodes.some((node) => node.provenance === provenance)) return provenance;
  return undefined;
}

/** Visits every part of a value together with the schemas that describe it; `visit` says whether to go below. */
export function walkDescribed(document: OpenApiDocument, described: Described, value: unknown, visit: (place: Place) => boolean): void {
  const step = (place: Place): void => {
    if (!visit(place)) return;
    if (typeof place.value !== 'object' || place.value === null) return;
    const isList = Array.isArray(place.value);
    for (const [key, child] of Object.entries(place.value)) {
      step({
        pointer: joinPointer(place.pointer, key),
        name: key,
        value: child,
        nodes: childNodes(document, place.nodes, isList ? Number(key) : key),
        parents: place.nodes,
      });
    }
  };
  step({ pointer: '', name: '', value, nodes: schemaNodes(document, described.pointer, described.provenance), parents: [] });
}

export interface Place {
  /** JSON pointer into the value. */
  readonly pointer: string;
  readonly name: string;
  readonly value: unknown;
  readonly nodes: readonly SchemaNode[];
  /** The schemas of the object or list that holds it. */
  readonly parents: readonly SchemaNode[];
}
