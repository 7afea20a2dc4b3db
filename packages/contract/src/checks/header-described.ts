import { always } from '../applies.ts';
import type { Check } from '../check.ts';
import { HTTP_HEADERS } from '../http-headers.ts';
import { observedHeader } from '../observed.ts';

export const headerDescribed: Check = {
  id: 'header-described',
  claim: 'The document describes the response headers of the API itself.',
  judges: 'Leaves out what HTTP, browsers and proxies put on any response. The value is never shown.',
  client:
    'The client shows headers of a response untyped; one that the document does not name is one that nobody knows to read, such as the rest of a rate limit.',
  applies: always,
  checkResponse({ document, exchange, response }) {
    if (response === undefined) return [];
    return Object.keys(exchange.headers)
      .filter((name) => !HTTP_HEADERS.test(name) && response.headers[name] === undefined)
      .map((name) => ({
        pointer: '',
        verdict: 'discovered' as const,
        message: `the document does not describe the response header ${name}`,
        expected: Object.keys(response.headers).join(', ') || 'no headers of the API itself',
        observed: `a text of ${exchange.headers[name]?.length ?? 0} characters`,
        at: response.holder,
        rule: name,
        cause: 'header',
        proposal: {
          kind: 'add-entry' as const,
          at: `${response.holder}/headers`,
          key: name,
          value: observedHeader(document, name),
        },
      }));
  },
  defect: {
    description: 'Responses carry a rate limit header that is not described.',
    tamper: ({ outcome, response }) =>
      outcome === 'success' ? { ...response, headers: { ...response.headers, 'x-requests-left': '41' } } : undefined,
  },
};
