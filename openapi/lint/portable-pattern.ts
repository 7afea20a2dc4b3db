import type { Oas3Rule } from '@redocly/openapi-core';

/** What ECMA 262 without the flag u, Python, Go or PCRE does not have or reads in another way. */
const UNPORTABLE: readonly (readonly [RegExp, string])[] = [
  [/\\[pP]/, 'Unicode classes (\\p, \\P)'],
  [/\(\?<?[=!]/, 'look-around'],
  [/\\(?:[1-9]|k<)|\(\?P?</, 'back-references and named groups'],
  [/\\[uU]/, 'Unicode escapes (\\u)'],
  [/[*+?}]\+/, 'possessive quantifiers'],
];

/** Clients in other languages check patterns with their own engines: a pattern uses only what all of them read alike. */
export const portablePattern: Oas3Rule = () => ({
  Schema({ pattern }, { report, location }) {
    if (typeof pattern !== 'string') return;
    const at = location.child('pattern');
    // A backslash that is itself escaped begins nothing.
    const unescaped = pattern.replaceAll('\\\\', '');
    for (const [construct, name] of UNPORTABLE) {
      if (!construct.test(unescaped)) continue;
      report({ message: `The pattern uses ${name}, which not every language has. Write it without.`, location: at });
    }
    for (const flags of ['', 'u']) {
      try {
        RegExp(pattern, flags);
      } catch (error) {
        report({ message: `The pattern cannot be read${flags && ` with the flag ${flags}`}: ${String(error)}`, location: at });
      }
    }
  },
});
