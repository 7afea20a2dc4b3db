import { counted } from '../../rules/counted.ts';
import { toInstantOrNull } from '../../rules/instants.ts';
import { numberOf } from '../../rules/money.ts';
import type { ReadOperation } from '../operation.ts';

/** GET /accounting/payments: the payments of the account and the refunds to it, the last recorded first. */
export const listPayments: ReadOperation<'listPayments'> = {
  kind: 'read',
  settles: true,
  isLong: true,
  async run(db, { accountId }) {
    const payments = await db
      .selectFrom('payments')
      .selectAll()
      .where('account_id', '=', accountId)
      .orderBy('created', 'desc')
      .orderBy('id', 'desc')
      .execute();
    const uses = await db
      .selectFrom('payment_uses')
      .innerJoin('invoices', 'invoices.id', 'payment_uses.used_for')
      .select(['payment_id', 'invoices.id as invoice_id', 'number', 'amount'])
      .where('invoices.account_id', '=', accountId)
      .orderBy('number')
      .execute();
    const usesOf = Map.groupBy(uses, ({ payment_id }) => payment_id);
    return {
      message: `${counted(payments.length, 'payment')}.`,
      data: {
        balance: numberOf(payments.reduce((sum, { unused }) => sum + BigInt(unused), 0n)),
        list: payments.map(({ id, kind, amount, date, method, reference, unused, reversed }) => ({
          kind,
          amount: numberOf(BigInt(amount)),
          date,
          method,
          reference,
          pays: (usesOf.get(id) ?? []).map((use) => ({
            invoiceID: use.invoice_id,
            number: use.number ?? '',
            amount: numberOf(BigInt(use.amount)),
          })),
          unused: numberOf(BigInt(unused)),
          reversed: toInstantOrNull(reversed),
        })),
      },
    };
  },
};
