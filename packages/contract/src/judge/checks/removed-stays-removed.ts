import { isSuccess } from '../../exchange/exchange.ts';
import type { Check } from '../check.ts';
import { verdictOf } from '../finding.ts';
import { isKnownFor, occasionProposal } from '../observed.ts';

export const removedStaysRemoved: Check = {
  id: 'removed-stays-removed',
  claim: 'A removed resource can be neither removed again nor read.',
  judges:
    'After a successful DELETE, the service must refuse the same DELETE, and a GET of the same path must not succeed. Runs only in full mode, on resources that the run created or the command line names.',
  client: 'A cancellation may have had no effect, so that you still pay.',
  needs: ['remove-again', 'read-removed'],
  applies: ({ method }) => method === 'DELETE',
  checkResponse(context) {
    const { operation, sent, status } = context.exchange;
    if ((sent.purpose !== 'remove-again' && sent.purpose !== 'read-removed') || !isSuccess(status)) return [];
    if (isKnownFor(context.document, context.response, 'x-for-removed')) return [];
    const again = sent.purpose === 'remove-again';
    return [
      {
        pointer: '',
        verdict: verdictOf(operation.provenance),
        message: again ? 'a removed resource can be removed again' : 'a removed resource can still be read',
        expected: again ? 'a refusal, such as 404 or 409' : '404 or 410',
        observed: String(status),
        at: operation.pointer,
        rule: sent.purpose,
        proposal: operation.provenance === 'shown' ? undefined : occasionProposal(context, 'x-for-removed'),
      },
    ];
  },
};
