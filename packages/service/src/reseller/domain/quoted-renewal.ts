import { quotedCharges } from '../../core/accounting/quote.ts';
import type { QuotedPurchase } from '../../core/accounting/quote.ts';
import { domainCharges, renewalPrice } from '../../core/accounting/renewal-hold.ts';
import { tldPriceVersions } from '../../core/catalogue/tld-price.ts';
import type { DomainRow } from '../../core/domain/domain.ts';
import { periodOf } from '../../rules/billing.ts';
import type { Db } from '../../store/store.ts';

/** The renewal of a domain at its expiry, as if it were not cancelled. @param now Milliseconds. */
export async function quotedRenewal(db: Db, domain: DomainRow, now: number): Promise<QuotedPurchase> {
  const { end: periodEnd } = periodOf(Math.floor(now / 1000));
  return quotedCharges({
    price: renewalPrice(await tldPriceVersions(db, domain.tld), domain.expires),
    time: { amount: 1, unit: 'years' },
    part: 'renew',
    charges: domainCharges({ ...domain, terminated: 0 }, periodEnd),
    periodEnd,
  });
}
