import { isSuccess } from '../answer.ts';
import { always } from '../applies.ts';
import type { Check } from '../check.ts';

export const methodRefused: Check = {
  id: 'method-refused',
  claim: 'A described path answers no method that is not described.',
  judges:
    'Read-only, it tries GET where the document has none; in full mode also PATCH. Success is a discovery: an operation that the document does not know. HEAD and OPTIONS belong to HTTP and are not tried.',
  client: 'There is a function that the client does not have, and a way to the data that nobody reviewed.',
  needs: ['method'],
  applies: always,
  look({ answer: { operation, sent, status } }) {
    if (sent.purpose !== 'method' || !isSuccess(status)) return [];
    return [
      {
        pointer: '',
        verdict: 'discovered',
        message: `${sent.method} ${operation.path} is answered, which the document does not describe`,
        expected: '404 or 405',
        observed: String(status),
        at: operation.pointer.slice(0, operation.pointer.lastIndexOf('/')),
        rule: sent.method,
        proposal: {
          kind: 'add-entry',
          at: operation.pointer.slice(0, operation.pointer.lastIndexOf('/')),
          key: sent.method.toLowerCase(),
          value: {
            operationId: `${sent.method.toLowerCase()}${operation.id.charAt(0).toUpperCase()}${operation.id.slice(1)}`,
            ...(operation.tag === undefined ? {} : { tags: [operation.tag] }),
            summary: `Observed ${sent.method}`,
            description: 'Observed by a contract test; what it does is not known yet.',
            'x-provenance': 'inferred',
            'x-retry': 'never',
            responses: { [String(status)]: { description: 'Observed by a contract test.' } },
          },
        },
      },
    ];
  },
  defect: {
    says: 'GET is answered where only another method is described.',
    tamper: ({ outcome, answer }) =>
      outcome === 'wrong-method'
        ? { ...answer, status: 200, body: { status: 'success', requestID: null, message: '', data: null } }
        : undefined,
  },
};
