import { always } from '../applies.ts';
import type { Check } from '../check.ts';

export const serverError: Check = {
  id: 'server-error',
  claim: 'No request makes the service fail.',
  judges:
    'Any 5xx, described or not, whatever was sent. 501 says that the operation is not built, and 503 with a description that the service is down for a while: neither is a fault of this request.',
  client: 'The client throws after its retries. For a purchase you do not know whether it happened.',
  undescribed: 'too',
  applies: always,
  look({ answer: { status, operation, sent }, response }) {
    if (status < 500 || status === 501 || (status === 503 && (response !== undefined || sent.purpose === 'method'))) return [];
    return [
      {
        pointer: '',
        verdict: 'violation',
        message: `the service fails with ${status}${sent.detail === '' ? '' : ` on ${sent.detail}`}`,
        expected: 'an answer below 500',
        observed: String(status),
        at: `${operation.pointer}/responses`,
        rule: `${status} ${sent.purpose}`,
      },
    ];
  },
  defect: {
    says: 'An identifier that does not exist makes the service fail.',
    tamper: ({ outcome, operation, answer }) => {
      const example = Object.values(operation?.responses['500']?.content['application/json']?.examples ?? {})[0]?.value;
      return outcome === 'unknown-id' && example !== undefined ? { ...answer, status: 500, body: example } : undefined;
    },
  },
};
