import type { Oas3Rule } from '@redocly/openapi-core';

import { isText } from './nodes.ts';

/** A regular expression tells people nothing, so what it expects is written beside it and completes a message that begins "must be". */
export const explainedPattern: Oas3Rule = () => ({
  Schema(schema, { report, location }) {
    const expected: unknown = Reflect.get(schema, 'x-expected');
    if (schema.pattern === undefined) {
      if (expected === undefined) return;
      report({
        message: 'x-expected explains a pattern, and there is none here. Leave it out.',
        location: location.child('x-expected').key(),
      });
      return;
    }
    if (!isText(expected)) {
      report({
        message:
          'The pattern has no x-expected. Write beside it what it expects, to complete a message that begins "must be": x-expected: two letters, such as DE.',
        location: location.child('pattern').key(),
      });
      return;
    }
    if (!/^must\b|\.$/.test(expected)) return;
    report({
      message: 'x-expected completes a message that begins "must be". Leave out "must be" and the full stop.',
      location: location.child('x-expected'),
    });
  },
});
