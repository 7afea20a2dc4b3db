import type { Quote } from '@reseller/client/extension';

import { vatRatesOf } from '../core/accounting/account-vat.ts';
import { heldBy } from '../core/accounting/credit-hold.ts';
import { toQuote } from '../core/accounting/quote.ts';
import type { QuotedPurchase } from '../core/accounting/quote.ts';
import type { Db } from '../store/store.ts';

/** The successful response of a quote. */
export async function quoteSuccess(
  db: Db,
  purchase: QuotedPurchase,
  { accountId, now }: { readonly accountId: string; readonly now: number },
): Promise<{ message: string; data: Quote }> {
  const buyer = { rates: await vatRatesOf(db, accountId), held: await heldBy(db, accountId), now };
  return { message: 'The price was computed. Nothing was bought.', data: toQuote(purchase, buyer) };
}
