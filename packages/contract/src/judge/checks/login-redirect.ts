import { isPlainCall } from '../../exchange/exchange.ts';
import { always } from '../applies.ts';
import type { Check } from '../check.ts';

const LOGIN = /log-?in|sign-?in|\bsso\b|\boauth|\/auth\b|\bsession\/new|\bauthorize\b/i;

export const loginRedirect: Check = {
  id: 'login-redirect',
  claim: 'The service does not redirect a request with a valid credential to a login page.',
  example: '`GET /orders` returns 302 with `Location: /login`.',
  judges:
    'Reports a redirect whose `Location` looks like a login page, in response to a valid request. Does not follow redirects. Other checks judge other redirects like any status.',
  client: 'The client follows the redirect and returns the HTML of a login page, with status 200.',
  undescribed: 'also',
  isFinal: true,
  applies: always,
  checkResponse({ exchange, response }) {
    const location = exchange.headers['location'];
    const isRedirect = exchange.status >= 300 && exchange.status < 400;
    if (!isRedirect || location === undefined || !isPlainCall(exchange) || exchange.sent.credential !== 'account' || !LOGIN.test(location))
      return [];
    return [
      {
        pointer: '',
        verdict: 'discovered',
        isUrgent: true,
        message: 'the service redirects a request with a valid credential to an address that looks like a login page',
        expected: 'a response of the API',
        observed: `${exchange.status}, Location with ${location.length} characters`,
        at: response?.holder ?? `${exchange.operation.pointer}/responses`,
        rule: 'login',
        cause: 'login',
        assertion: { kind: 'status', pattern: '^(?!3)' },
      },
    ];
  },
};
