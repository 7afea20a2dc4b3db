import { takesBody } from '../applies.ts';
import type { Check } from '../check.ts';
import { verdictOf } from '../finding.ts';
import { isKnownFor, occasionProposal } from '../observed.ts';
import { refusalLike } from '../tamper.ts';

export const formAccepted: Check = {
  id: 'form-accepted',
  claim: 'A body that keeps the rules of the document is accepted.',
  judges:
    "Sends the document's own examples, with identifiers that exist. 400, 413, 415 and 422 contradict the document; refusals by state, credit, capacity or rate do not. A body with values that the document does not give, which were made up from the rules of the schema, may be refused by a rule that no schema can state: then nothing is verified.",
  client: 'Your code compiles and the call fails: the type allows what the service does not.',
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
        message:
          sent.isMadeUp === true
            ? 'a body that was made from the schema is refused; the document has no example of one'
            : 'a body that keeps the rules of the document is refused',
        expected: 'success',
        observed: `${status} for ${sent.detail || 'the first valid body'}`,
        at: operation.body.pointer,
        rule: 'refused',
        proposal: operation.provenance === 'shown' || sent.isMadeUp === true ? undefined : occasionProposal(context, 'x-for-valid-form'),
      },
    ];
  },
  defect: {
    description: 'A valid form is refused.',
    tamper: ({ outcome, form, operation, response }) => {
      const example = Object.values(operation?.responses['422']?.content['application/json']?.examples ?? {})[0]?.value;
      return outcome === 'success' && form !== undefined && operation?.readOnly === true && example !== undefined
        ? refusalLike(response, 422, example)
        : undefined;
    },
  },
};
