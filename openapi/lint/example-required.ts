import type { Oas3Rule, UserContext } from '@redocly/openapi-core';

import { entriesOf, isFields, isInWebhook } from './nodes.ts';

function needExamples(what: string, content: unknown, { report, location }: Pick<UserContext, 'report' | 'location'>): void {
  if (entriesOf(content).length === 0) {
    report({
      message: `The ${what} has no content, so it can have no example. Give it a media type with a schema and named examples.`,
      location: location.key(),
    });
  }
  for (const [mediaType, media] of entriesOf(content)) {
    if (isFields(media) && entriesOf(media['examples']).length > 0) continue;
    report({
      message: `The ${what} has no example as ${mediaType}. Add named examples, each a $ref to a file in components/examples.`,
      location: location.child(['content', mediaType]).key(),
    });
  }
}

/** The mock returns examples, the tests of the service send and compare them, and people read them first. */
export const exampleRequired: Oas3Rule = () => ({
  RequestBody: (body, context) => needExamples('request body', body.content, context),
  Response(response, context) {
    // These have no body by definition.
    if (['204', '304'].includes(String(context.key))) return;
    // The receiver of a webhook responds with a status alone.
    if (isInWebhook(context.location)) return;
    needExamples('response', response.content, context);
  },
});
