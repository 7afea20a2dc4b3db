import { isSuccess } from '../../exchange/exchange.ts';
import { always } from '../applies.ts';
import type { Check } from '../check.ts';

export const operationDescribed: Check = {
  id: 'operation-described',
  claim: 'The document describes every path and method in recorded traffic.',
  example: 'A recording has `GET /internal/users`, and the document has no such path.',
  judges:
    'Reports requests to the origin of the API that match no operation of the document. If one succeeds, the document lacks a part of the API; otherwise the client made a mistake. Replaces segments that look like identifiers by `{…}`. Ignores CORS preflights.',
  client: 'The generated client has no function for this operation, so its requests and responses are unchecked.',
  needs: ['traffic'],
  undescribed: 'also',
  applies: always,
  untestable: 'it is about a client: repeat what the client does',
  checkRun: ({ foreign, operations }) =>
    foreign.map((exchange) => {
      const { sent, status, operation } = exchange;
      const isServed = isSuccess(status);
      const isPathKnown = operations.some(({ path }) => path === operation.path);
      const what = `${sent.method} ${operation.path}`;
      return {
        exchange,
        pointer: '',
        verdict: 'discovered' as const,
        isUrgent: isServed,
        message: isServed
          ? `${what} succeeds, but the document does not describe it`
          : `a client requests ${what}, which the document does not describe`,
        expected: isPathKnown ? 'a method that the document describes for the path' : 'a path that the document describes',
        observed: String(status),
        at: operation.pointer,
        rule: `${what} ${isServed ? 'served' : 'refused'}`,
      };
    }),
};
