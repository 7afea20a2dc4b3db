import { isSuccess } from '../../exchange/exchange.ts';
import { REFUSED } from '../assertion.ts';
import type { Check } from '../check.ts';
import { verdictOf } from '../finding.ts';
import { isKnownFor, occasionProposal } from '../observed.ts';

export const removedStaysRemoved: Check = {
  id: 'removed-stays-removed',
  claim: 'A removed resource can be neither removed again nor read.',
  example: '`DELETE /orders/7` returns 204, and `GET /orders/7` returns 200 after it.',
  judges:
    'After a successful DELETE, a GET of the same path must not succeed. The same DELETE must be refused if the document describes 404, 409 or 410 for it. The second DELETE is sent only where no other resource can have got the identifier. Runs only in full mode, on resources that the run created or the command line names.',
  client: 'A cancellation may have had no effect, so that you still pay.',
  needs: ['remove-again', 'read-removed'],
  applies: ({ method }) => method === 'DELETE',
  checkResponse(context) {
    const { operation, sent, status } = context.exchange;
    if ((sent.purpose !== 'remove-again' && sent.purpose !== 'read-removed') || !isSuccess(status)) return [];
    // RFC 9110 allows the repetition of a DELETE, unless the document describes its refusal.
    if (sent.purpose === 'remove-again' && ['404', '409', '410'].every((code) => operation.responses[code] === undefined)) return [];
    if (isKnownFor(context.document, context.response, 'x-for-removed')) return [];
    const again = sent.purpose === 'remove-again';
    return [
      {
        pointer: '',
        verdict: verdictOf(operation.provenance),
        message: again ? 'a removed resource can be removed again' : 'a removed resource can still be read',
        expected: '404 or 410',
        observed: String(status),
        at: operation.pointer,
        cause: operation.path,
        rule: 'removed',
        assertion: REFUSED,
        proposal: operation.provenance === 'shown' ? undefined : occasionProposal(context, 'x-for-removed'),
      },
    ];
  },
};
