import type { Oas3Rule } from '@redocly/openapi-core';

/** Syntax that ECMAScript, Python, Go (RE2) or PCRE does not support or interprets differently. */
const NOT_SHARED: readonly (readonly [RegExp, string])[] = [
  [/\\[pP]/, 'a Unicode property (\\p)'],
  [/\\u/, 'an escape by \\u'],
  [/\(\?(?!:)/, 'a lookaround, a flag or a named group'],
  [/\\[1-9k]/, 'a reference to a group'],
  [/\\[ZzAG]/, 'an anchor other than ^ and $'],
];

/** Clients in many languages and code generators compile the patterns of the document, most of them without the flag `u`. */
export const portablePattern: Oas3Rule = () => ({
  Schema({ pattern }, { report, location }) {
    if (typeof pattern !== 'string') return;
    const at = location.child('pattern');
    for (const [construct, name] of NOT_SHARED) {
      if (!construct.test(pattern)) continue;
      report({
        message: `The pattern has ${name}, which some engines do not support. Write the excluded characters as \\x ranges, and let the service check the rest.`,
        location: at,
      });
    }
    for (const flags of ['', 'u']) {
      try {
        RegExp(pattern, flags);
      } catch (error) {
        report({
          message: `The pattern does not compile ${flags === '' ? 'without flags' : `with the flag ${flags}`}: ${String(error)}.`,
          location: at,
        });
      }
    }
  },
});
