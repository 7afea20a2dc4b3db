import { chargesAt, singlePart } from '../../core/accounting/quote.ts';
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
  const price = BigInt(server.price);
  const period = periodOf(Math.floor(now / 1000));
  const charges = serverCharges(server, period);
  return {
    price,
    time: { amount: server.runtime_days, unit: 'days' },
    supplies: chargesAt(price, charges),
    periodEnd: period.end,
    hold: price * BigInt(charges.length),
    parts: singlePart('runtime', price),
  };
}
