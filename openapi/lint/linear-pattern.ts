import type { Oas3Rule } from '@redocly/openapi-core';

import { superLinearText } from './regular-expression/super-linear.ts';

/** A request may carry 64 kB, and everybody who uses the document runs its patterns on such texts. */
export const linearPattern: Oas3Rule = () => ({
  Schema({ pattern }, { report, location }) {
    if (typeof pattern !== 'string') return;
    const at = location.child('pattern');
    try {
      const text = superLinearText(pattern, 'u');
      if (text === undefined) return;
      report({
        message: `The pattern takes more than linear time for repetitions of ${JSON.stringify(text)}, because it can match them in several ways. Write it so that each text has one way.`,
        location: at,
      });
    } catch (error) {
      report({ message: `The time that the pattern takes cannot be judged: ${String(error)}`, location: at });
    }
  },
});
