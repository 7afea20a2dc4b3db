import { always } from '../applies.ts';
import type { Check } from '../check.ts';
import { observedResponse } from '../observed.ts';
import { isServerError } from './server-error.ts';

export const statusDocumented: Check = {
  id: 'status-documented',
  claim: 'The document describes the HTTP status of the answer.',
  judges:
    'Looks for the exact status, then its class (`4XX`), then `default`. A status that is not described is a discovery and not a violation: the document is silent about it, it is not contradicted. A failure of the service is the finding of `server-error` alone.',
  client:
    'The generated client has no type for this answer. It lands in the error branch as `unknown`, so code that switches over the described statuses falls through.',
  undescribed: 'too',
  applies: always,
  look({ document, validator, answer, response }) {
    if (response !== undefined || answer.sent.purpose === 'method' || isServerError(answer, response)) return [];
    const { operation, status } = answer;
    const described = Object.keys(operation.responses).join(', ');
    return [
      {
        pointer: '',
        verdict: 'discovered',
        isUrgent: true,
        message: `the document does not describe the status ${status}`,
        expected: described === '' ? 'a described status' : described,
        observed: String(status),
        at: `${operation.pointer}/responses`,
        rule: String(status),
        cause: 'status',
        proposal: {
          kind: 'add-entry',
          at: `${operation.pointer}/responses`,
          key: String(status),
          value: observedResponse({ document, validator, answer }),
        },
      },
    ];
  },
  defect: {
    says: 'An operation responds with 206 where the document describes 200.',
    tamper: ({ outcome, operation, answer }) =>
      outcome === 'success' && operation?.readOnly === true ? { ...answer, status: 206 } : undefined,
  },
};
