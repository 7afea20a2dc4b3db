import type { Oas3Rule } from '@redocly/openapi-core';

import { isFields } from './nodes.ts';
import { schemasOfContent } from './schemas.ts';
import type { FoundSchema } from './schemas.ts';

/** A plain text schema. It accepts the values that were not seen. */
function isAnyText(schema: unknown): boolean {
  return isFields(schema) && schema['type'] === 'string' && Object.keys(schema).every((key) => ['type', 'description'].includes(key));
}

/**
 * A client must tolerate a value that was not seen. The enum of a response is therefore marked as seen and has a plain text as an alternative.
 * A certain value is a `const`.
 */
export const openEnumeration: Oas3Rule = () => {
  const judged = new Set<string>();
  return {
    Schema(schema, { report, location, parent }) {
      if (!('x-seen' in schema)) return;
      if (schema.enum === undefined) {
        report({
          message: 'x-seen is on a schema without enum. Put it next to the enum whose values were seen.',
          location: location.child('x-seen').key(),
        });
        return;
      }
      const branches: unknown = /\/anyOf\/\d+$/.test(location.pointer) ? parent : undefined;
      if (Array.isArray(branches) && branches.some(isAnyText)) return;
      report({
        message:
          'The enum is marked as seen but allows no other value. Write it as one branch of an anyOf, in place, with a plain "- type: string" as another.',
        location: location.child('enum').key(),
      });
    },
    Response(response, { report, location, resolve }) {
      for (const { schema, location: at } of schemasOfContent(response.content, location, resolve)) refuseClosed({ schema, location: at });

      function refuseClosed(found: FoundSchema): void {
        if (!Array.isArray(found.schema['enum']) || 'x-seen' in found.schema || judged.has(found.location.absolutePointer)) return;
        judged.add(found.location.absolutePointer);
        report({
          message:
            'A response has a closed enum, which breaks clients when a value is added. ' +
            'Use const for a certain value; otherwise mark the enum with x-seen: true, as a branch of an anyOf next to a plain "- type: string".',
          location: found.location.child('enum').key(),
        });
      }
    },
  };
};
