/** The price of a purchase, computed by the service itself. */
import { readOperations } from '@reseller/contract';
import type { OpenApiDocument, Operation } from '@reseller/contract';
import { moneyOf, showMoney } from '@reseller/contract/engine';
import type { Price } from '@reseller/contract/engine';

import { isList, textAt, valueIn } from './price-of-vm.ts';

/** The quote of a billable operation: the operation at its path followed by `/quote`. Undefined if the document has none. */
export function quoteOperation(operation: Pick<Operation, 'path'>, document: OpenApiDocument): Operation | undefined {
  return readOperations(document).find(({ path }) => path === `${operation.path}/quote`);
}

/** Statuses of a service without the extension. It responds to a quote as to any unknown path. */
export function hasNoQuotes(status: number | undefined): boolean {
  return status === 404 || status === 405;
}

/**
 * The price in the data of a quote.
 *
 * @param operation The id of the billable operation.
 * @returns undefined if the data are not those of a quote
 */
export function priceOfQuote(operation: string, quote: unknown): Price | undefined {
  const net = moneyOf(valueIn(quote, 'price', 'net'));
  if (net === undefined) return undefined;
  const sale = valueIn(quote, 'sale') === null ? '' : `, in the sale "${textAt(quote, 'sale', 'title')}"`;
  return { net, gross: moneyOf(valueIn(quote, 'price', 'gross')), basis: `${whatFor(operation, quote)}${sale}${untilPeriodEnd(quote)}` };
}

function whatFor(operation: string, quote: unknown): string {
  const parts = valueIn(quote, 'parts');
  const [first] = isList(parts) ? parts : [];
  const time = `${textAt(quote, 'price', 'time', 'amount')} ${textAt(quote, 'price', 'time', 'unit')}`;
  switch (valueIn(first, 'name')) {
    case 'create':
      return 'the first year of the domain';
    case 'transfer':
      return 'the transfer of the domain';
    case 'renew':
      return 'the next renewal of the domain';
    case 'runtime':
      return `${operation.startsWith('undelete') ? 'each further' : 'the first'} ${time} of the server`;
    default:
      return `for each ${time} that it runs`;
  }
}

/** `; 7.11 EUR net, 8.46 EUR gross until 2026-12-01`. */
function untilPeriodEnd(quote: unknown): string {
  const [net, gross] = ['net', 'gross'].map((kind) => moneyOf(valueIn(quote, 'untilPeriodEnd', kind)));
  if (net === undefined || gross === undefined) return '';
  return `; ${showMoney(net)} EUR net, ${showMoney(gross)} EUR gross until ${textAt(quote, 'periodEnd').slice(0, 10)}`;
}
