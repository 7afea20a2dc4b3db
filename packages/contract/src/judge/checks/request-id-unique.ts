import { isObject } from '../../document/json.ts';
import { jsonValue } from '../../exchange/exchange.ts';
import type { Exchange } from '../../exchange/exchange.ts';
import { returnsJson } from '../applies.ts';
import type { Check } from '../check.ts';

export const requestIdUnique: Check = {
  id: 'request-id-unique',
  claim: 'No two responses of a run have the same request identifier.',
  judges: 'Compares the request identifiers of all responses of the run, except null.',
  client: 'When you report a failure by its identifier, the provider finds another request.',
  undescribed: 'also',
  applies: returnsJson,
  checkRun({ exchanges, envelope }) {
    const { identifier } = envelope;
    if (identifier === undefined) return [];
    const first = new Map<string, Exchange>();
    return exchanges.flatMap((exchange) => {
      const value = jsonValue(exchange);
      const id = isObject(value) ? value[identifier] : undefined;
      if (typeof id !== 'string') return [];
      const earlier = first.get(id);
      if (earlier === undefined) {
        first.set(id, exchange);
        return [];
      }
      return [
        {
          exchange,
          pointer: `/${identifier}`,
          verdict: 'violation' as const,
          message: `${identifier} is the same as in an earlier response`,
          expected: 'a different value for each request',
          observed: `the value of ${earlier.operation.id}`,
          at: '/components',
          rule: 'repeated',
        },
      ];
    });
  },
};
