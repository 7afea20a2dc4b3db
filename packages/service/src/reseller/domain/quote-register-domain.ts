import { quotedCharges } from '../../core/accounting/quote.ts';
import { periodOf } from '../../rules/billing.ts';
import type { ReadOperation } from '../operation.ts';
import { quoteSuccess } from '../quote-success.ts';
import { readForm } from './register-domain-form.ts';
import { registrationPrice } from './register-domain.ts';

/** POST /domain/register/quote: the price of a registration or a transfer. */
export const quoteRegisterDomain: ReadOperation<'quoteRegisterDomain'> = {
  kind: 'read',
  settles: true,
  async run(db, call) {
    const { runtime, form, now } = call;
    const { prices } = await readForm(db, call, runtime.ports.registrar.standardNameservers);
    const at = Math.floor(now / 1000);
    const purchase = quotedCharges({
      price: registrationPrice(form, prices),
      time: { amount: 1, unit: 'years' },
      part: form.authcode === undefined ? 'create' : 'transfer',
      charges: [at],
      periodEnd: periodOf(at).end,
    });
    return quoteSuccess(db, purchase, call);
  },
};
