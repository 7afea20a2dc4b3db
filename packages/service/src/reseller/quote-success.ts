import type { Quote } from '@reseller/client/extension';

import { toQuote } from '../core/accounting/quote.ts';
import type { QuotedPurchase } from '../core/accounting/quote.ts';
import { catalogueOf } from '../core/catalogue/catalogue.ts';
import type { Db } from '../store/store.ts';

/**
 * The successful response of a quote.
 *
 * @param now Milliseconds.
 */
export async function quoteSuccess(db: Db, purchase: QuotedPurchase, now: number): Promise<{ message: string; data: Quote }> {
  const { vatRates } = await catalogueOf(db);
  return { message: 'The price was computed. Nothing was bought.', data: toQuote(purchase, vatRates, now) };
}
