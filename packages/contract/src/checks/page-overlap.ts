import { isSuccess, jsonValue } from '../exchange.ts';
import type { Answer } from '../exchange.ts';
import type { Check, Session } from '../check.ts';
import { pagingOf } from '../paging.ts';

export const pageOverlap: Check = {
  id: 'page-overlap',
  claim: 'The next page of a list does not repeat the page before it.',
  judges:
    'Reads two pages and compares their items as JSON. A list that grows at its front, as a request log does by the very requests that read it, pushes one item over the edge for each request between the two: so many repetitions are allowed.',
  client: 'A loop over all pages handles items twice, or never ends.',
  needs: ['next-page'],
  applies: (operation, document) => pagingOf(document, operation) !== undefined,
  conclude(session) {
    return session.answers.flatMap((answer, index) => {
      if (answer.sent.purpose !== 'next-page' || !isSuccess(answer.status)) return [];
      const paging = pagingOf(session.document, answer.operation);
      const first = firstPage(session, answer);
      if (paging === undefined || first === undefined) return [];
      const seen = new Set((paging.itemsOf(jsonValue(first)) ?? []).map((item) => JSON.stringify(item)));
      const second = new Set((paging.itemsOf(jsonValue(answer)) ?? []).map((item) => JSON.stringify(item)));
      const repeated = [...second].filter((item) => seen.has(item)).length;
      // The compared service may log what it is asked in the same list.
      const since = session.answers.slice(session.answers.indexOf(first), index);
      const between = since.length + session.pairs.filter(({ one }) => since.includes(one)).length;
      if (repeated <= between) return [];
      return [
        {
          answer,
          pointer: paging.pointer,
          verdict: 'violation' as const,
          message: 'the second page repeats items of the first',
          expected: `at most ${between} repeated, one for each request between the two`,
          observed: `${repeated} repeated`,
          at: paging.at,
          rule: 'overlap',
        },
      ];
    });
  },
  defect: {
    says: 'The offset is ignored: every page is the first.',
    tamper({ document, operation, outcome, form, query, success }) {
      const isPaged = operation !== undefined && pagingOf(document, operation) !== undefined;
      return outcome === 'success' && isPaged && (Object.keys(form?.values ?? {}).length > 0 || Object.keys(query).length > 0)
        ? success('first page')
        : undefined;
    },
  },
};

function firstPage({ answers }: Session, { operation }: Answer): Answer | undefined {
  return answers.find((answer) => answer.operation.id === operation.id && answer.sent.purpose === 'call' && isSuccess(answer.status));
}
