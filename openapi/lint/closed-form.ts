import type { Oas3Rule } from '@redocly/openapi-core';

import { isFields, isInWebhook } from './nodes.ts';
import type { Fields } from './nodes.ts';
import { schemasOfContent } from './schemas.ts';

/** Whether an object accepts undescribed fields. A map describes all of its fields at once. */
function isOpen({ type, properties, additionalProperties }: Fields): boolean {
  if (isFields(properties)) return additionalProperties !== false;
  return type === 'object' && !isFields(additionalProperties) && additionalProperties !== false;
}

/** A misspelt field in a request body is refused, not ignored. A response may gain fields, which a client must tolerate. */
export const closedForm: Oas3Rule = () => {
  const judged = new Set<string>();
  return {
    RequestBody(body, { report, location, resolve }) {
      // Its reader must tolerate new fields.
      if (isInWebhook(location)) return;
      for (const { schema, location: at } of schemasOfContent(body.content, location, resolve)) {
        if (!isOpen(schema) || judged.has(at.absolutePointer)) continue;
        judged.add(at.absolutePointer);
        report({
          message: 'Part of a request body is open, so an undescribed field would be ignored. Set additionalProperties: false here.',
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
            message: `A response has ${key}: false, so a new field would break clients. Remove it; only forms are closed.`,
            location: place.key(),
          });
        }
      }
    },
  };
};
