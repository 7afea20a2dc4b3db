import { takesBody } from '../applies.ts';
import type { Check } from '../check.ts';
import { verdictOf } from '../finding.ts';
import { isKnownFor, occasionProposal } from '../observed.ts';

export const formAccepted: Check = {
  id: 'form-accepted',
  claim: 'The service accepts a valid body.',
  judges:
    'Sends the examples of the document, with identifiers that exist. 400, 413, 415 and 422 contradict the document; refusals because of state, credit, capacity or rate do not. A refusal of a body generated from the schema is unverified, because the service may apply a rule that no schema can express.',
  client: 'Your code compiles and the call fails, because the type allows a value that the service refuses.',
  needs: ['call', 'valid-form', 'next-page'],
  applies: takesBody,
  checkResponse(context) {
    const { operation, sent, status } = context.exchange;
    const isValid = sent.purpose === 'valid-form' || sent.purpose === 'call' || sent.purpose === 'next-page';
    if (!isValid || operation.body === undefined || ![400, 413, 415, 422].includes(status)) return [];
    if (isKnownFor(context.document, context.response, 'x-for-valid-form')) return [];
    return [
      {
        pointer: '',
        verdict: sent.isMadeUp === true ? 'unverified' : verdictOf(operation.provenance),
        message: sent.isMadeUp === true ? 'the service refuses a body generated from the schema' : 'the service refuses a valid body',
        expected: 'success',
        observed: `${status} for ${sent.detail || 'the first valid body'}`,
        at: operation.body.pointer,
        rule: 'refused',
        proposal: operation.provenance === 'shown' || sent.isMadeUp === true ? undefined : occasionProposal(context, 'x-for-valid-form'),
      },
    ];
  },
};
