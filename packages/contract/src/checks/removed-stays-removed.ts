import type { Check } from '../check.ts';
import { isSuccess } from '../exchange.ts';
import { verdictOf } from '../finding.ts';
import { isKnownFor, occasionProposal } from '../observed.ts';

export const removedStaysRemoved: Check = {
  id: 'removed-stays-removed',
  claim: 'What was removed or cancelled cannot be removed once more, and cannot be read where removing means that it is gone.',
  judges:
    'After a DELETE that succeeded: the same DELETE again must be refused, and a GET of the very same path must not find it. Runs only in full mode, on what the run created or what was named.',
  client: 'A cancellation that was not one: you believe that a cost has ended, and it has not.',
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
        message: again ? 'what is removed already can be removed again' : 'what was removed can still be read',
        expected: again ? 'a refusal, such as 404 or 409' : '404 or 410',
        observed: String(status),
        at: operation.pointer,
        rule: sent.purpose,
        proposal: operation.provenance === 'shown' ? undefined : occasionProposal(context, 'x-for-removed'),
      },
    ];
  },
  defect: {
    description: 'Cancelling once more succeeds once more.',
    tamper: ({ outcome, success }) => (outcome === 'removed' ? success() : undefined),
  },
};
