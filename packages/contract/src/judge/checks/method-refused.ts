import { resolve } from '../../document/document.ts';
import type { OpenApiDocument } from '../../document/document.ts';
import type { JsonObject } from '../../document/json.ts';
import type { Operation } from '../../document/operation.ts';
import { parentPointer, valueAt } from '../../document/pointer.ts';
import { isSuccess } from '../../exchange/exchange.ts';
import type { Exchange } from '../../exchange/exchange.ts';
import { always } from '../applies.ts';
import { REFUSED } from '../assertion.ts';
import type { Check } from '../check.ts';
import { observedResponse } from '../observed.ts';

export const methodRefused: Check = {
  id: 'method-refused',
  claim: 'A described path refuses undescribed methods.',
  example: 'The document describes only POST for `/orders`, and `GET /orders` returns 200.',
  judges:
    'Sends GET to paths for which the document has no GET; in full mode also PATCH. Success is a discovery: the service has an undescribed operation. An HTML page is none, unless the document describes HTML for the path. Does not send HEAD and OPTIONS, because HTTP servers add these themselves.',
  client: 'The client has no function for this operation, and the operation may give access to data without having been reviewed.',
  needs: ['method'],
  applies: always,
  checkResponse({ document, validator, exchange }) {
    const { operation, sent, status } = exchange;
    if (sent.purpose !== 'method' || !isSuccess(status) || isWebPage(exchange)) return [];
    return [
      {
        pointer: '',
        verdict: 'discovered',
        message: `${sent.method} ${operation.path} succeeds, but the document does not describe it`,
        expected: '404 or 405',
        observed: String(status),
        at: parentPointer(operation.pointer),
        rule: sent.method,
        assertion: REFUSED,
        proposal: {
          kind: 'add-entry',
          at: parentPointer(operation.pointer),
          key: sent.method.toLowerCase(),
          value: {
            operationId: `${sent.method.toLowerCase()}${operation.id.charAt(0).toUpperCase()}${operation.id.slice(1)}`,
            ...(operation.tag === undefined ? {} : { tags: [operation.tag] }),
            summary: `Observed ${sent.method}`,
            description: 'Observed by a contract test; its purpose is not known yet.',
            'x-provenance': 'inferred',
            'x-retry': 'never',
            ...borrowed(document, operation.pointer),
            responses: { [String(status)]: observedResponse({ document, validator, exchange }), ...refusals(document, operation) },
          },
        },
      },
    ];
  },
};

/** Whether a response is a page of a web application, which many services serve for every unknown path, where the document has no pages. */
function isWebPage({ mediaType, operation }: Exchange): boolean {
  const described = Object.values(operation.responses).flatMap(({ content }) => Object.keys(content));
  return mediaType === 'text/html' && !described.includes('text/html');
}

/** The path parameters of the described operation of the same path. */
function borrowed(document: OpenApiDocument, pointer: string): JsonObject {
  const parameters = valueAt(document, `${pointer}/parameters`);
  if (!Array.isArray(parameters)) return {};
  const ofPath = parameters.filter((_, index) => Object(resolve(document, `${pointer}/parameters/${index}`).value)['in'] === 'path');
  return ofPath.length === 0 ? {} : { parameters: ofPath };
}

/** The refusals of the described operation of the same path for a wrong key and an unknown identifier. */
function refusals(document: OpenApiDocument, { pointer, responses }: Operation): JsonObject {
  return Object.fromEntries(
    ['401', '404']
      .filter((status) => responses[status] !== undefined)
      .map((status) => [status, valueAt(document, `${pointer}/responses/${status}`)]),
  );
}
