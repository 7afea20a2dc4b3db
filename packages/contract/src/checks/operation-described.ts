import { always } from '../applies.ts';
import type { Check } from '../check.ts';
import { isSuccess } from '../exchange.ts';

export const operationDescribed: Check = {
  id: 'operation-described',
  claim: 'The document describes every path and method that traffic uses.',
  judges:
    'Looks at recorded traffic, and at what passes through the proxy: requests to the origin of the API for which the document has no operation. One that succeeds is a part of the API that the document lacks; another one is a mistake of the client. Parts of the path that look like identifiers are shown as `{…}`. CORS preflights are left out.',
  client: 'The generated client has no function for it, and nothing checks what it sends or gets.',
  needs: ['traffic'],
  undescribed: 'also',
  applies: always,
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
          : `a client sends ${what}, which the document does not describe`,
        expected: isPathKnown ? 'a method that the path has in the document' : 'a path of the document',
        observed: String(status),
        at: operation.pointer,
        rule: `${what} ${isServed ? 'served' : 'refused'}`,
      };
    }),
  defect: {
    description: 'A client uses an operation that the document does not have.',
    tamper: () => undefined,
    undescribedPath: '/contract-test/undocumented',
  },
};
