import type { Check } from '../check.ts';
import { pagingOf } from '../paging.ts';
import { remarkOf } from '../schema-remarks.ts';

export const pageSize: Check = {
  id: 'page-size',
  claim: 'A list has no more items than its document allows on one page.',
  judges: 'By the `maxItems` of the list: 50 for the log of past requests.',
  client: 'A buffer, a table or a paging loop that counts on the size of a page loses the rest.',
  applies: (operation, document) => pagingOf(document, operation)?.size !== undefined,
  checkResponse: (context) =>
    context
      .issues()
      .filter(({ keyword }) => keyword === 'maxItems')
      .map((issue) => remarkOf(context, issue)),
  defect: {
    description: 'A page has 60 items.',
    tamper({ document, operation, outcome, response }) {
      const paging = operation === undefined ? undefined : pagingOf(document, operation);
      const items = paging?.itemsOf(response.body);
      if (outcome !== 'success' || paging?.size === undefined || items === undefined || items.length === 0) return undefined;
      const { size } = paging;
      return {
        ...response,
        body: paging.withItems(
          response.body,
          Array.from({ length: size + 10 }, (_, index) => items[index % items.length]),
        ),
      };
    },
  },
};
