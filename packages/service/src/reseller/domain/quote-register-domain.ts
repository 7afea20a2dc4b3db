import { chargesAt, singlePart } from '../../core/accounting/quote.ts';
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
    const price = registrationPrice(form, prices);
    const at = Math.floor(now / 1000);
    const purchase = {
      price,
      time: { amount: 1, unit: 'years' },
      supplies: chargesAt(price, [at]),
      periodEnd: periodOf(at).end,
      hold: price,
      parts: singlePart(form.authcode === undefined ? 'create' : 'transfer', price),
    };
    return quoteSuccess(db, purchase, now);
  },
};
