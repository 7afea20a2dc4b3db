import { findDomain } from '../../core/domain/domain.ts';
import type { ReadOperation } from '../operation.ts';
import { quoteSuccess } from '../quote-success.ts';
import { quotedRenewal } from './quoted-renewal.ts';
import { assertCancelled } from './undelete-domain.ts';

/** POST /domain/{domain}/undelete/quote: the price of the renewal of a domain. */
export const quoteUndeleteDomain: ReadOperation<'quoteUndeleteDomain'> = {
  kind: 'read',
  settles: true,
  async run(db, call) {
    const domain = await findDomain(db, call);
    assertCancelled(domain, call.now);
    return quoteSuccess(db, await quotedRenewal(db, domain, call.now), call);
  },
};
