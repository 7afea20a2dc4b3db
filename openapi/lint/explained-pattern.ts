import type { Oas3Rule } from '@redocly/openapi-core';

import { isText } from './nodes.ts';

/** People do not read regular expressions, so x-expected next to one explains it and completes a message that begins "must be". */
export const explainedPattern: Oas3Rule = () => ({
  Schema(schema, { report, location }) {
    const expected: unknown = Reflect.get(schema, 'x-expected');
    if (schema.pattern === undefined) {
      if (expected === undefined) return;
      report({
        message: 'x-expected explains a pattern, but there is none here. Remove it.',
        location: location.child('x-expected').key(),
      });
      return;
    }
    if (!isText(expected)) {
      report({
        message:
          'The pattern has no x-expected. Add one that completes a message beginning "must be", such as x-expected: two letters, such as DE.',
        location: location.child('pattern').key(),
      });
      return;
    }
    if (!/^must\b|\.$/.test(expected)) return;
    report({
      message: 'x-expected completes a message that begins "must be". Remove "must be" and the full stop.',
      location: location.child('x-expected'),
    });
  },
});
