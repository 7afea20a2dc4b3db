import { pagingOf } from '../../exchange/paging.ts';
import type { Check } from '../check.ts';
import { remarkOf } from '../schema-remarks.ts';

export const pageSize: Check = {
  id: 'page-size',
  claim: 'A page has at most as many items as the document allows.',
  judges: 'Compares with `maxItems` of the list, such as 50 for the log of past requests.',
  client: 'Code that relies on the size of a page, such as a buffer or a paging loop, loses the remaining items.',
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
