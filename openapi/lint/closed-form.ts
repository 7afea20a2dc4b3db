import type { Oas3Rule } from '@redocly/openapi-core';

import { type Fields, isFields } from './nodes.ts';
import { schemasOfContent } from './schemas.ts';

/** Whether an object lets in fields that nothing describes. A map describes them all at once. */
function isOpen({ type, properties, additionalProperties }: Fields): boolean {
  if (isFields(properties)) return additionalProperties !== false;
  return type === 'object' && !isFields(additionalProperties) && additionalProperties !== false;
}

/** A misspelt field of a form or of another body is refused, not ignored; an answer may gain fields, and a client must survive that. */
export const closedForm: Oas3Rule = () => {
  const judged = new Set<string>();
  return {
    RequestBody(body, { report, location, resolve }) {
      for (const { schema, location: at } of schemasOfContent(body.content, location, resolve)) {
        if (!isOpen(schema) || judged.has(at.absolutePointer)) continue;
        judged.add(at.absolutePointer);
        report({
          message:
            'A part of a request body is open: a field that it does not describe would be ignored. Set additionalProperties: false here.',
          location: at.key(),
        });
      }
    },
    Response(response, { report, location, resolve }) {
      for (const { schema, location: at } of schemasOfContent(response.content, location, resolve)) {
        for (const key of ['additionalProperties', 'unevaluatedProperties']) {
          const place = at.child(key);
          if (schema[key] !== false || judged.has(place.absolutePointer)) continue;
          judged.add(place.absolutePointer);
          report({
            message: `An answer has ${key}: false, so a new field would break clients. Leave it out; only forms are closed.`,
            location: place.key(),
          });
        }
      }
    },
  };
};
