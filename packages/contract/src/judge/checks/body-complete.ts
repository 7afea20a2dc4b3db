import { always } from '../applies.ts';
import type { Check } from '../check.ts';

export const bodyComplete: Check = {
  id: 'body-complete',
  claim: 'Every response arrives completely.',
  example: '`Content-Length` is 2048, and the connection closes after 900 bytes.',
  judges:
    'Reports a connection that closes before the end of the body: after fewer bytes than Content-Length, or before the last chunk. A request without a response, or with a late one, is unverified instead, because the network may be the cause.',
  client: 'The client throws a network error although the status was a success. After a purchase you cannot tell whether it took place.',
  undescribed: 'also',
  applies: always,
  isFinal: true,
  checkResponse({ exchange: { body, operation, status } }) {
    if (body.kind !== 'cut') return [];
    return [
      {
        pointer: '',
        verdict: 'violation',
        message: 'the connection closed before the response was complete',
        expected: 'a complete response',
        observed: `${status}, then: ${body.problem}`,
        at: `${operation.pointer}/responses`,
        rule: 'cut',
        cause: 'cut',
        assertion: { kind: 'body', is: 'complete' },
      },
    ];
  },
};
