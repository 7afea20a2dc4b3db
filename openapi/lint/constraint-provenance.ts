import type { Oas3Rule } from '@redocly/openapi-core';

import { ALL_RULES, constraintsIn, provenanceOfConstraint } from './constraints.ts';
import { isFields } from './nodes.ts';
import type { Fields } from './nodes.ts';
import { visitParts } from './parts.ts';
import type { Part } from './parts.ts';
import type { Location } from './schemas.ts';

/** We may have chosen the limit of a shown field, so each constraint has a provenance, in its own schema or in one above. */
export const constraintProvenance: Oas3Rule = () => ({
  Root(root, { report, location, resolve }) {
    if (!isFields(root)) return;
    const reported = new Set<string>();
    function reportOnce(message: string, at: Location): void {
      if (reported.has(at.absolutePointer)) return;
      reported.add(at.absolutePointer);
      report({ message, location: at.key() });
    }
    const reading = {
      root: { node: root, location },
      resolve: (node: Fields, at: Location) => resolve<object>({ $ref: String(node['$ref']) }, at.source.absoluteRef),
    };
    visitParts<Location>(reading, ({ kind, node, location: at, scope }: Part<Location>) => {
      if (kind !== 'schema') return;
      const constraints = constraintsIn(node);
      for (const keyword of constraints) {
        if (provenanceOfConstraint(node, keyword, scope) !== undefined) continue;
        reportOnce(
          `${keyword} has no provenance. Write x-constraints: shown, inferred or not-shown in this schema, or in one above it.`,
          at.child(keyword),
        );
      }
      const named = isFields(node['x-constraints']) ? Object.keys(node['x-constraints']) : [];
      for (const keyword of named) {
        if (keyword === ALL_RULES || constraints.includes(keyword) || (keyword === 'required' && 'required' in node)) continue;
        reportOnce(
          `x-constraints names ${keyword}, which is not a constraint of this schema. Name one of its own, or '${ALL_RULES}' for all others.`,
          at.child(['x-constraints', keyword]),
        );
      }
    });
  },
});
