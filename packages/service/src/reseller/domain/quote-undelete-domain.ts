import { quotedCharges } from '../../core/accounting/quote.ts';
import { domainCharges, renewalPrice } from '../../core/accounting/renewal-hold.ts';
import { tldPriceVersions } from '../../core/catalogue/tld-price.ts';
import { findDomain } from '../../core/domain/domain.ts';
import { periodOf } from '../../rules/billing.ts';
import type { ReadOperation } from '../operation.ts';
import { quoteSuccess } from '../quote-success.ts';
import { assertCancelled } from './undelete-domain.ts';

/** POST /domain/{domain}/undelete/quote: the price of the renewal of a domain. */
export const quoteUndeleteDomain: ReadOperation<'quoteUndeleteDomain'> = {
  kind: 'read',
  settles: true,
  async run(db, call) {
    const { now } = call;
    const domain = await findDomain(db, call);
    assertCancelled(domain, now);
    const { end: periodEnd } = periodOf(Math.floor(now / 1000));
    const purchase = quotedCharges({
      price: renewalPrice(await tldPriceVersions(db, domain.tld), domain.expires),
      time: { amount: 1, unit: 'years' },
      part: 'renew',
      charges: domainCharges({ ...domain, terminated: 0 }, periodEnd),
      periodEnd,
    });
    return quoteSuccess(db, purchase, call);
  },
};
