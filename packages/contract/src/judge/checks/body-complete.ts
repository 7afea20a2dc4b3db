import { always } from '../applies.ts';
import type { Check } from '../check.ts';

export const bodyComplete: Check = {
  id: 'body-complete',
  claim: 'Every response arrives completely.',
  example: '`Content-Length` is 2048, and the connection closes after 900 bytes.',
  judges:
    'Reports a connection that closes before the end of the body: after fewer bytes than Content-Length, or before the last chunk. A connection that closes without a response is reported as well, as by a service whose process crashes; a read is sent once more before. A late response is unverified instead.',
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
        message: status === 0 ? 'the connection closed in place of a response' : 'the connection closed before the response was complete',
        expected: 'a complete response',
        observed: status === 0 ? `no response: ${body.problem}` : `${status}, then: ${body.problem}`,
        at: `${operation.pointer}/responses`,
        rule: status === 0 ? 'closed' : 'cut',
        cause: 'cut',
        // A test cannot tell a crash from a network that fails.
        assertion: status === 0 ? undefined : { kind: 'body', is: 'complete' },
      },
    ];
  },
};
