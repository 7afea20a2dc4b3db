import type { StoreOperation } from '../../operation.ts';
import { summaryOf } from '../invoice.ts';
import { closeEndedPeriods } from '../period-end.ts';

/** GET /accounting/invoices: the invoices of the account by their IDs, newest first. */
export const listInvoices: StoreOperation<'listInvoices'> = {
  kind: 'store',
  async run({ db }, call) {
    await closeEndedPeriods(db, call.accountId, Math.floor(call.now / 1000));
    const invoices = await db
      .selectFrom('invoices')
      .selectAll()
      .where('account_id', '=', call.accountId)
      .orderBy('period_start', 'desc')
      .execute();
    return {
      message: `${invoices.length} invoices.`,
      data: Object.fromEntries(invoices.map((invoice) => [invoice.id, summaryOf(invoice, call)])),
    };
  },
};
