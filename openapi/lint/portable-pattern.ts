import type { Oas3Rule } from '@redocly/openapi-core';

/** What one of ECMAScript, Python, Go (RE2) and PCRE does not know or reads in another way. */
const NOT_SHARED: readonly (readonly [RegExp, string])[] = [
  [/\\[pP]/, 'a Unicode property (\\p)'],
  [/\\u/, 'an escape by \\u'],
  [/\(\?(?!:)/, 'a lookaround, a flag or a named group'],
  [/\\[1-9k]/, 'a reference to a group'],
  [/\\[ZzAG]/, 'an anchor other than ^ and $'],
];

/** Clients in many languages and generators of code compile the patterns of the document, most of them without the flag `u`. */
export const portablePattern: Oas3Rule = () => ({
  Schema({ pattern }, { report, location }) {
    if (typeof pattern !== 'string') return;
    const at = location.child('pattern');
    for (const [construct, name] of NOT_SHARED) {
      if (!construct.test(pattern)) continue;
      report({
        message: `The pattern has ${name}, which not every engine has. Write what is excluded as \\x ranges, and have the service judge the rest.`,
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
