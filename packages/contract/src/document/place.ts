import type { OpenApiDocument } from './document.ts';
import type { Issue } from './issues.ts';
import { joinPointer, parentPointer, pointerTokens } from './pointer.ts';
import { ruleProvenance } from './provenance.ts';
import type { Provenance } from './provenance.ts';
import type { SchemaNode } from './schema.ts';
import { rootView } from './view.ts';
import type { View } from './view.ts';

/** The schema of a JSON body, with the provenance that it inherits. */
export interface Described {
  readonly pointer: string;
  readonly provenance: Provenance;
}

/** One part of a value, with the schemas that describe it. */
export interface Place {
  /** JSON pointer into the value. */
  readonly pointer: string;
  /** The pointer with `*` for indexes and unnamed keys: the same for all items of a list. */
  readonly pattern: string;
  readonly name: string;
  /** Name of the parent object or list. */
  readonly holder: string;
  readonly value: unknown;
  readonly nodes: readonly SchemaNode[];
  /** The schemas of the parent object or list. */
  readonly parents: readonly SchemaNode[];
}

/**
 * The provenance of the rule that an issue contradicts, found by following the path of the value through the schemas. The target
 * of a reference inherits from the place of the reference.
 */
export function provenanceOfIssue(document: OpenApiDocument, described: Described, value: unknown, issue: Issue): Provenance {
  let view = rootView(document, described.pointer, described.provenance);
  let provenance = strongest(view.nodes) ?? described.provenance;
  const rule = parentPointer(issue.schemaPath);
  // For a missing or unknown property, the rule is in the schema of the parent object.
  let outer = view;
  let at = value;
  for (const token of pointerTokens(issue.path)) {
    const isList = Array.isArray(at);
    outer = view;
    view = view.member(isList ? Number(token) : token).view;
    at = typeof at === 'object' && at !== null ? Reflect.get(at, token) : undefined;
    provenance = strongest(view.nodes) ?? provenance;
  }
  const own = view.nodes.find((node) => node.pointer === rule);
  const holder = own ?? outer.nodes.find((node) => node.pointer === rule);
  return ruleProvenance(holder, issue.keyword, own?.provenance ?? provenance);
}

/** The strongest provenance of several schemas of one value. */
export function strongest(nodes: readonly SchemaNode[]): Provenance | undefined {
  for (const provenance of ['shown', 'inferred', 'not-shown'] as const)
    if (nodes.some((node) => node.provenance === provenance)) return provenance;
  return undefined;
}

/** Visits every part of a value with its schemas; `visit` returns whether to descend. */
export function walkDescribed(document: OpenApiDocument, described: Described, value: unknown, visit: (place: Place) => boolean): void {
  function step(place: Place, view: View): void {
    if (!visit(place)) return;
    if (typeof place.value !== 'object' || place.value === null) return;
    const isList = Array.isArray(place.value);
    for (const [key, child] of Object.entries(place.value)) {
      const { view: below, isNamed } = view.member(isList ? Number(key) : key);
      step(
        {
          pointer: joinPointer(place.pointer, key),
          pattern: joinPointer(place.pattern, isNamed ? key : '*'),
          name: key,
          holder: place.name,
          value: child,
          nodes: below.nodes,
          parents: view.nodes,
        },
        below,
      );
    }
  }
  const view = rootView(document, described.pointer, described.provenance);
  step({ pointer: '', pattern: '', name: '', holder: '', value, nodes: view.nodes, parents: [] }, view);
}
