import { HTTP_HEADERS } from '../../exchange/http-headers.ts';
import { always } from '../applies.ts';
import type { Check } from '../check.ts';
import { observedHeader } from '../observed.ts';

export const headerDescribed: Check = {
  id: 'header-described',
  claim: 'The document describes the response headers of the API itself.',
  example: 'A response has `X-Request-Cost: 7`, and the document does not describe this header.',
  judges: 'Ignores headers of HTTP itself, browsers and proxies. Never reports the value.',
  client:
    'The client returns headers without types, so you can only discover this one by chance. It may be useful, such as a remaining rate limit.',
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
        assertion: { kind: 'header' as const, name, isPresent: false },
        proposal: {
          kind: 'add-entry' as const,
          at: `${response.holder}/headers`,
          key: name,
          value: observedHeader(document, name),
        },
      }));
  },
};
