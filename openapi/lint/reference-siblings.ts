import type { Oas3Rule } from '@redocly/openapi-core';

import { isReference } from './nodes.ts';

const REMARKS = new Set(['$ref', 'title', 'description', 'summary', 'default', 'examples', 'deprecated']);

/** Generators drop a constraint next to a reference, or write code that does not compile. */
export const referenceSiblings: Oas3Rule = () => ({
  ref(node, { report, location }) {
    if (!isReference(node)) return;
    for (const key of Object.keys(node)) {
      if (REMARKS.has(key) || key.startsWith('x-')) continue;
      report({
        message: `${key} is next to a $ref, where many tools ignore it. Write allOf with the reference as one item and the constraint as another.`,
        location: location.child(key).key(),
      });
    }
  },
});
