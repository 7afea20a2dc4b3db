import { isSuccess, jsonValue } from '../../exchange/exchange.ts';
import type { Exchange, Purpose } from '../../exchange/exchange.ts';
import { isWalked, pagingOf } from '../../exchange/paging.ts';
import type { Paging } from '../../exchange/paging.ts';
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
    judges:
      'Reads two pages and compares their items as JSON. In a full run, follows a cursor, the `Link` header or the address of the next page up to eight times.',
    client: 'A loop over all pages processes items twice, or never ends.',
    needs: ['next-page'],
    applies: (operation, document) => pagingOf(document, operation) !== undefined,
    checkRun(context) {
      return context.exchanges.flatMap((exchange, index) => {
        if (exchange.sent.purpose !== 'next-page' || !isSuccess(exchange.status)) return [];
        const paging = pagingOf(context.document, exchange.operation);
        const first = paging === undefined ? undefined : pageBefore(context, paging, exchange);
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
            message: 'the next page repeats items of the page before',
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

/** The first page, or for a page that a response names, that response. */
function pageBefore({ exchanges }: RunContext, paging: Paging, exchange: Exchange): Exchange | undefined {
  const pages = exchanges
    .slice(0, exchanges.indexOf(exchange))
    .filter(({ operation, sent, status }) => operation.id === exchange.operation.id && PAGES.has(sent.purpose) && isSuccess(status));
  return isWalked(paging) ? pages.at(-1) : pages.find(({ sent }) => sent.purpose === 'call');
}

const PAGES: ReadonlySet<Purpose> = new Set(['call', 'next-page']);
