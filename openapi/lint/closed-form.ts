import type { Oas3Rule } from '@redocly/openapi-core';

import { isFields } from './nodes.ts';
import { schemasOfContent } from './schemas.ts';

const FORM = 'application/x-www-form-urlencoded';

/** A misspelt field of a form is refused, not ignored; an answer may gain fields, and a client must survive that. */
export const closedForm: Oas3Rule = () => {
  const judged = new Set<string>();
  return {
    RequestBody(body, { report, location, resolve }) {
      const form = body.content?.[FORM];
      if (!isFields(form?.schema)) return;
      const at = location.child(['content', FORM, 'schema']);
      const { node } = resolve<Record<string, unknown>>(form.schema);
      if (node === undefined || node['additionalProperties'] === false) return;
      report({
        message: 'The form is open: a field that it does not describe would be ignored. Set additionalProperties: false in its schema.',
        location: at.key(),
      });
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
