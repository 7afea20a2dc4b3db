import { always } from '../applies.ts';
import type { Check } from '../check.ts';

export const bodyComplete: Check = {
  id: 'body-complete',
  claim: 'Every response arrives whole.',
  judges:
    'A response whose connection ends before its body does: fewer bytes than its Content-Length, or a chunked body without its end. A request that is not answered at all, or not in time, is unverified instead, since the network may be the reason.',
  client: 'The client throws a network error although the status said success. For a purchase you do not know what happened.',
  undescribed: 'also',
  applies: always,
  isFinal: true,
  checkResponse({ exchange: { body, operation, status } }) {
    if (body.kind !== 'cut') return [];
    return [
      {
        pointer: '',
        verdict: 'violation',
        message: 'the connection ends in the middle of the response',
        expected: 'a whole response',
        observed: `${status}, then: ${body.problem}`,
        at: `${operation.pointer}/responses`,
        rule: 'cut',
        cause: 'cut',
      },
    ];
  },
  defect: {
    description: 'The connection ends in the middle of the body.',
    tamper: ({ outcome, operation, response }) =>
      outcome === 'success' && operation?.readOnly === true ? { ...response, isCut: true } : undefined,
  },
};
