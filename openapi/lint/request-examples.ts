import type { Oas3Decorator } from '@redocly/openapi-core';

import { entriesOf, isFields, isReference } from './nodes.ts';

/**
 * Repeats the examples of a request body in its schema. Many tools (Postman, generators of mocks and tests) read only these
 * examples, and otherwise make up a body from the types.
 */
export const requestExamples: Oas3Decorator = () => ({
  RequestBody: {
    leave(body, { resolve }) {
      function target(node: unknown): unknown {
        return isReference(node) ? resolve<object>(node).node : node;
      }
      for (const [, media] of entriesOf(body.content)) {
        if (!isFields(media)) continue;
        const schema = target(media['schema']);
        const values = entriesOf(media['examples']).flatMap(([, example]) => {
          const found = target(example);
          return isFields(found) && 'value' in found ? [found['value']] : [];
        });
        if (isFields(schema) && values.length > 0) Object.assign(schema, { examples: values });
      }
    },
  },
});
