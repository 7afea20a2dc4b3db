import { toInvoiceSummary } from '../../core/accounting/invoice.ts';
import { counted } from '../../rules/counted.ts';
import type { ReadOperation } from '../operation.ts';

/** GET /accounting/invoices: the invoices of the account by their IDs, newest first. */
export const listInvoices: ReadOperation<'listInvoices'> = {
  kind: 'read',
  settles: true,
  async run(db, call) {
    const invoices = await db
      .selectFrom('invoices')
      .selectAll()
      .where('account_id', '=', call.accountId)
      .where('status', '!=', 'CLOSING')
      .orderBy('period_start', 'desc')
      .execute();
    return {
      message: `${counted(invoices.length, 'invoice')}.`,
      data: Object.fromEntries(invoices.map((invoice) => [invoice.id, toInvoiceSummary(invoice, call.runtime)])),
    };
  },
};
