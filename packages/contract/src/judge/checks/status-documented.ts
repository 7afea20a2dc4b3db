import { always } from '../applies.ts';
import type { Check } from '../check.ts';
import { observedResponse } from '../observed.ts';
import { isServerError } from './server-error.ts';

export const statusDocumented: Check = {
  id: 'status-documented',
  claim: 'The document describes the HTTP status of the response.',
  example: 'A response has the status 409, and the document does not describe it.',
  judges:
    'Looks for the exact status, then its class (`4XX`), then `default`. An undescribed status is a discovery, not a violation, because it does not contradict the document. Only the check server-error judges failures of the service.',
  client:
    'The generated client has no type for this response. The error has the type `unknown`, so code that switches over the described statuses does not handle it.',
  undescribed: 'also',
  applies: always,
  checkResponse({ document, validator, exchange, response }) {
    if (response !== undefined || exchange.sent.purpose === 'method' || isServerError(exchange, response)) return [];
    const { operation, status } = exchange;
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
        assertion: { kind: 'status', pattern: `^(?:${Object.keys(operation.responses).join('|').replaceAll('X', '.')})` },
        proposal: {
          kind: 'add-entry',
          at: `${operation.pointer}/responses`,
          key: String(status),
          value: observedResponse({ document, validator, exchange }),
        },
      },
    ];
  },
};
