import { isSuccess, jsonValue } from '../../exchange/exchange.ts';
import type { Exchange } from '../../exchange/exchange.ts';
import { pagingOf } from '../../exchange/paging.ts';
import type { Check, RunContext } from '../check.ts';

export const pageOverlap = pageOverlapCheck(() => 0);

/**
 * The check of two pages.
 * @param allowanceOf the number of items that may repeat, given the number of requests between the two pages
 */
export function pageOverlapCheck(allowanceOf: (exchange: Exchange, between: number) => number): Check {
  return {
    id: 'page-overlap',
    claim: 'The next page of a list does not repeat the page before it.',
    example: 'The last item of the first page is the first item of the next page.',
    judges: 'Reads two pages and compares their items as JSON.',
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
        const since = context.exchanges.slice(context.exchanges.indexOf(first), index);
        const allowance = allowanceOf(exchange, since.length);
        if (repeated <= allowance) return [];
        return [
          {
            exchange,
            pointer: paging.pointer,
            verdict: 'violation' as const,
            message: 'the second page repeats items of the first',
            expected: allowance === 0 ? 'no repeated items' : `at most ${allowance} repeated items`,
            observed: `${repeated} repeated`,
            at: paging.at,
            rule: 'overlap',
            assertion: { kind: 'pages-differ' as const, pointer: paging.pointer, allowance: allowanceOf(exchange, 1) },
            shownBy: [first, exchange],
          },
        ];
      });
    },
  };
}

function firstPage({ exchanges }: RunContext, { operation }: Exchange): Exchange | undefined {
  return exchanges.find(
    (exchange) => exchange.operation.id === operation.id && exchange.sent.purpose === 'call' && isSuccess(exchange.status),
  );
}
