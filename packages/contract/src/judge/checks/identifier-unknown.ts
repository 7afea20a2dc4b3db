import { isItemWrite, namesResources } from '../../document/creation.ts';
import { responseFor, surveyOperations } from '../../document/operations.ts';
import { isSuccess } from '../../exchange/exchange.ts';
import { hasPathParameter } from '../applies.ts';
import { REFUSED } from '../assertion.ts';
import type { Check } from '../check.ts';
import { verdictOf } from '../finding.ts';
import { isKnownFor, occasionProposal } from '../observed.ts';

export const identifierUnknown: Check = {
  id: 'identifier-unknown',
  claim: 'The service responds to an unknown identifier with 404.',
  example: '`GET /orders/00000000-0000-4000-8000-00000000dead` returns 200.',
  judges:
    'Sends a made-up identifier that matches the schema of its parameter. A path parameter is an identifier by its name, or if the document has an operation of its collection, a change of what it names, or a link; others are values, such as a year. Success is a violation if the document describes 404, and a discovery otherwise. A PUT or PATCH with a described 201 may create the resource; the run removes it. If the document describes 404, another refusal is learned, because clients distinguish a missing resource from an invalid request.',
  client: 'Code that handles 404 as "does not exist" gets data of another resource, or another error.',
  needs: ['unknown-id'],
  applies: (operation, document) => hasPathParameter(operation) && namesResources(surveyOperations(document).operations, operation),
  checkResponse(context) {
    const { operation, sent, status } = context.exchange;
    if (sent.purpose !== 'unknown-id' || isKnownFor(context.document, context.response, 'x-for-unknown-id')) return [];
    const described = operation.responses['404'];
    const isServed = isSuccess(status);
    const refusal = responseFor(operation, 404);
    const isOther = described !== undefined && status !== 404 && status < 500 && ![401, 403, 410, 429].includes(status);
    // The document says that the service creates what is missing.
    const isCreated = isServed && isItemWrite(operation) && operation.responses['201'] !== undefined;
    if (isCreated || (!isServed && !isOther)) return [];
    return [
      {
        pointer: '',
        verdict: isServed ? (refusal === undefined ? 'discovered' : verdictOf(operation.provenance)) : 'learned',
        message: isServed
          ? 'the service accepts an unknown identifier'
          : `the service refuses an unknown identifier with the status ${status}`,
        expected: refusal === undefined ? 'a refusal, such as 404' : '404',
        observed: String(status),
        at: described?.holder ?? operation.pointer,
        rule: isServed ? 'served' : String(status),
        cause: 'unknown-id',
        assertion: isServed ? REFUSED : { kind: 'status', pattern: '^(?:401|403|404|410|429)' },
        proposal: isServed && operation.provenance === 'shown' ? undefined : occasionProposal(context, 'x-for-unknown-id'),
      },
    ];
  },
};
