import { quotedCharges } from '../../core/accounting/quote.ts';
import type { QuotedPurchase } from '../../core/accounting/quote.ts';
import { serverCharges } from '../../core/accounting/renewal-hold.ts';
import type { ServerRow } from '../../core/dedicated/server.ts';
import { periodOf } from '../../rules/billing.ts';

/**
 * The price of a server in a state that it does not have yet.
 *
 * @param now Milliseconds.
 */
export function quotedServer(server: ServerRow, now: number): QuotedPurchase {
  const period = periodOf(Math.floor(now / 1000));
  return quotedCharges({
    price: BigInt(server.price),
    time: { amount: server.runtime_days, unit: 'days' },
    part: 'runtime',
    charges: serverCharges(server, period),
    periodEnd: period.end,
  });
}
