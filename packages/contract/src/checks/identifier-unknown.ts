import { hasPathParameter } from '../applies.ts';
import type { Check } from '../check.ts';
import { isSuccess } from '../exchange.ts';
import { verdictOf } from '../finding.ts';
import { isKnownFor, occasionProposal } from '../observed.ts';
import { responseFor } from '../operations.ts';

export const identifierUnknown: Check = {
  id: 'identifier-unknown',
  claim: 'A request with an unknown identifier gets a 404.',
  judges:
    'Makes up an identifier that keeps the rules of its parameter. Success is a violation where the document describes 404, and a discovery where it does not. Where the document describes 404, another refusal is learned: programs that tell "gone" from "wrong" need to know.',
  client: 'Code that catches 404 for "does not exist" gets data of something else, or another error.',
  needs: ['unknown-id'],
  applies: hasPathParameter,
  checkResponse(context) {
    const { operation, sent, status } = context.exchange;
    if (sent.purpose !== 'unknown-id' || isKnownFor(context.document, context.response, 'x-for-unknown-id')) return [];
    const described = operation.responses['404'];
    const isServed = isSuccess(status);
    const refusal = responseFor(operation, 404);
    const isOther = described !== undefined && status !== 404 && status < 500 && ![401, 403, 410, 429].includes(status);
    if (!isServed && !isOther) return [];
    return [
      {
        pointer: '',
        verdict: isServed ? (refusal === undefined ? 'discovered' : verdictOf(operation.provenance)) : 'learned',
        message: isServed ? 'an unknown identifier leads to a success' : `an unknown identifier leads to the status ${status}`,
        expected: refusal === undefined ? 'a refusal, such as 404' : '404',
        observed: String(status),
        at: described?.holder ?? operation.pointer,
        rule: isServed ? 'served' : String(status),
        proposal: isServed && operation.provenance === 'shown' ? undefined : occasionProposal(context, 'x-for-unknown-id'),
      },
    ];
  },
  defect: {
    description: 'Any identifier is found.',
    tamper: ({ outcome, success }) => (outcome === 'unknown-id' ? success() : undefined),
  },
};
