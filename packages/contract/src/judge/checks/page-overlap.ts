import { isSuccess, jsonValue } from '../../exchange/exchange.ts';
import type { Exchange } from '../../exchange/exchange.ts';
import { pagingOf } from '../../exchange/paging.ts';
import type { Check, RunContext } from '../check.ts';

export const pageOverlap: Check = {
  id: 'page-overlap',
  claim: 'The next page of a list does not repeat the page before it.',
  judges:
    'Reads two pages and compares their items as JSON. Allows one repeated item for each request between the two pages, because each request adds an entry to the front of a request log.',
  client: 'A loop over all pages processes items twice, or never ends.',
  needs: ['next-page'],
  applies: (operation, document) => pagingOf(document, operation) !== undefined,
  checkRun(context) {
    return context.exchanges.flatMap((exchange, index) => {
      if (exchange.sent.purpose !== 'next-page' || !isSuccess(exchange.status)) return [];
      const paging = pagingOf(context.document, exchange.operation);
      const first = firstPage(context, exchange);
      if (paging === undefined || first === undefined) return [];
      const seen = new Set((paging.itemsOf(jsonValue(first)) ?? []).map((item) => JSON.stringify(item)));
      const second = new Set((paging.itemsOf(jsonValue(exchange)) ?? []).map((item) => JSON.stringify(item)));
      const repeated = [...second].filter((item) => seen.has(item)).length;
      // The compared service may write its requests to the same log.
      const since = context.exchanges.slice(context.exchanges.indexOf(first), index);
      const between = since.length + context.pairs.filter(({ one }) => since.includes(one)).length;
      if (repeated <= between) return [];
      return [
        {
          exchange,
          pointer: paging.pointer,
          verdict: 'violation' as const,
          message: 'the second page repeats items of the first',
          expected: `at most ${between} repeated, one for each request between the two pages`,
          observed: `${repeated} repeated`,
          at: paging.at,
          rule: 'overlap',
        },
      ];
    });
  },
  defect: {
    description: 'The service ignores the offset and always returns the first page.',
    tamper({ document, operation, outcome, form, query, success }) {
      const isPaged = operation !== undefined && pagingOf(document, operation) !== undefined;
      return outcome === 'success' && isPaged && (Object.keys(form?.values ?? {}).length > 0 || Object.keys(query).length > 0)
        ? success('first page')
        : undefined;
    },
  },
};

function firstPage({ exchanges }: RunContext, { operation }: Exchange): Exchange | undefined {
  return exchanges.find(
    (exchange) => exchange.operation.id === operation.id && exchange.sent.purpose === 'call' && isSuccess(exchange.status),
  );
}
