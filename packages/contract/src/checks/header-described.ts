import { always } from '../applies.ts';
import type { Check } from '../check.ts';
import type { OpenApiDocument } from '../document.ts';
import { OF_HTTP } from '../http-headers.ts';
import { OBSERVED } from '../infer.ts';
import { isObject, type JsonObject } from '../json.ts';

export const headerDescribed: Check = {
  id: 'header-described',
  claim: 'The document describes the response headers of the API itself.',
  judges: 'Leaves out what HTTP, browsers and proxies put on any answer. The value is never shown.',
  client:
    'The client shows headers of an answer untyped; one that the document does not name is one that nobody knows to read, such as the rest of a rate limit.',
  applies: always,
  look({ document, answer, response }) {
    if (response === undefined) return [];
    return Object.keys(answer.headers)
      .filter((name) => !OF_HTTP.test(name) && response.headers[name] === undefined)
      .map((name) => ({
        pointer: '',
        verdict: 'discovered' as const,
        message: `the document does not describe the response header ${name}`,
        expected: Object.keys(response.headers).join(', ') || 'no headers of the API itself',
        observed: `a text of ${answer.headers[name]?.length ?? 0} characters`,
        at: response.holder,
        rule: name,
        cause: 'header',
        proposal: {
          kind: 'add-entry' as const,
          at: `${response.holder}/headers`,
          key: name,
          value: describedElsewhere(document, name) ?? { description: OBSERVED, 'x-provenance': 'inferred', schema: { type: 'string' } },
        },
      }));
  },
  defect: {
    says: 'Answers carry a rate limit header that is not described.',
    tamper: ({ outcome, answer }) =>
      outcome === 'success' ? { ...answer, headers: { ...answer.headers, 'x-requests-left': '41' } } : undefined,
  },
};

/** A reference to the header of the same name that other responses have. */
function describedElsewhere({ paths = {} }: OpenApiDocument, name: string): JsonObject | undefined {
  for (const item of Object.values(paths)) {
    for (const operation of Object.values(Object(item))) {
      for (const response of Object.values(Object(Object(operation).responses))) {
        for (const [key, header] of Object.entries(Object(Object(response).headers)))
          if (key.toLowerCase() === name && isObject(header) && header['$ref'] !== undefined) return header;
      }
    }
  }
  return undefined;
}
