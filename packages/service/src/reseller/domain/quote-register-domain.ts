import { quotedCharges } from '../../core/accounting/quote.ts';
import { hasLapsed } from '../../core/domain/domain.ts';
import { domainOfOther } from '../../core/domain/move.ts';
import { periodOf } from '../../rules/billing.ts';
import type { ReadOperation } from '../operation.ts';
import { quoteSuccess } from '../quote-success.ts';
import { quotedRenewal } from './quoted-renewal.ts';
import { readForm } from './register-domain-form.ts';
import { registrationPrice } from './register-domain.ts';

/** POST /domain/register/quote: the price of a registration or a transfer. */
export const quoteRegisterDomain: ReadOperation<'quoteRegisterDomain'> = {
  kind: 'read',
  settles: true,
  async run(db, call) {
    const { runtime, accountId, form, now } = call;
    const { name, prices } = await readForm(db, call, runtime.ports.registrar.standardNameservers);
    const at = Math.floor(now / 1000);
    const isTransfer = form.authcode !== undefined;
    const quoted = { time: { amount: 1, unit: 'years' }, part: isTransfer ? 'transfer' : 'create', periodEnd: periodOf(at).end } as const;
    const domain = isTransfer ? await domainOfOther(db, name, accountId) : undefined;
    if (!domain || hasLapsed(domain, at))
      return quoteSuccess(db, quotedCharges({ ...quoted, price: registrationPrice(form, prices), charges: [at] }), call);
    // A transfer between accounts costs nothing, but the new account pays a renewal that is due in this period.
    const { supplies, hold } = await quotedRenewal(db, domain, now);
    return quoteSuccess(db, { ...quotedCharges({ ...quoted, price: 0n, charges: [] }), supplies, hold }, call);
  },
};
