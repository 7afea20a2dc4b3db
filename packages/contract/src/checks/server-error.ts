import { always } from '../applies.ts';
import type { Check } from '../check.ts';
import type { Exchange, Purpose } from '../exchange.ts';
import type { OperationResponse } from '../operation.ts';
import { refusalLike } from '../tamper.ts';

/** Names of the requests that the document does not describe. */
const TRIED: Partial<Readonly<Record<Purpose, string>>> = {
  'no-key': ' on a request without a key',
  'wrong-key': ' on a key that nobody has',
  'unknown-id': ' on an identifier that nothing has',
  'invalid-form': ' on a form that breaks a rule',
  'invalid-parameter': ' on a query parameter that breaks a rule',
  method: ' on a method that is not described',
  'next-page': ' on the next page',
  'remove-again': ' on removing what is removed already',
  'read-removed': ' on reading what was removed',
};

/** @param response The described response of the status, if there is one. */
export function isServerError({ status, sent }: Exchange, response: OperationResponse | undefined): boolean {
  if (status < 500 || status === 501) return false;
  return status !== 503 || (response === undefined && sent.purpose !== 'method');
}

export const serverError: Check = {
  id: 'server-error',
  claim: 'No request makes the service fail.',
  judges:
    'Any 5xx, described or not, whatever was sent. Operations that fail in the same way on the same kind of request are one finding. 501 says that the operation is not built, and 503 with a description that the service is down for a while: neither is a fault of this request.',
  client: 'The client throws after its retries. For a purchase you do not know whether it happened.',
  undescribed: 'also',
  applies: always,
  checkResponse({ exchange, response }) {
    if (!isServerError(exchange, response)) return [];
    const { status, operation, sent } = exchange;
    return [
      {
        pointer: '',
        verdict: 'violation',
        message: `the service fails with ${status}${TRIED[sent.purpose] ?? ''}`,
        expected: 'a response below 500',
        observed: `${status}${sent.detail === '' ? '' : ` on ${sent.detail}`}`,
        at: `${operation.pointer}/responses`,
        rule: `${status} ${sent.purpose}`,
        cause: 'failure',
      },
    ];
  },
  defect: {
    description: 'An identifier that does not exist makes the service fail.',
    tamper: ({ outcome, operation, response }) => {
      const example = Object.values(operation?.responses['500']?.content['application/json']?.examples ?? {})[0]?.value;
      return outcome === 'unknown-id' && example !== undefined ? refusalLike(response, 500, example) : undefined;
    },
  },
};
