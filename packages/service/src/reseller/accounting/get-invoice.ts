import { toChargePositions } from '../../core/accounting/charge.ts';
import { chargesOn, positionsOn, toVmPositions, toInvoiceSummary } from '../../core/accounting/invoice.ts';
import { notFound } from '../../rules/refusal.ts';
import { tuningOf } from '../../store/tuning.ts';
import type { ReadOperation } from '../operation.ts';

/** GET /accounting/invoices/{invoiceID}: a closed invoice with its positions. */
export const getInvoice: ReadOperation<'getInvoice'> = {
  kind: 'read',
  settles: true,
  isLong: true,
  async run(db, call) {
    const { accountId, path } = call;
    const invoice = await db
      .selectFrom('invoices')
      .selectAll()
      .where('id', '=', path.invoiceID)
      .where('account_id', '=', accountId)
      .where('status', '!=', 'CLOSING')
      .executeTakeFirst();
    if (!invoice) throw notFound('invoice');
    const charges = await chargesOn(db, invoice);
    return {
      message: 'The invoice.',
      data: {
        ...toInvoiceSummary(invoice, call.runtime),
        positions: {
          vms: await toVmPositions(positionsOn(db, invoice).stream(tuningOf(db).streamedRows)),
          ...toChargePositions(charges).positions,
        },
      },
    };
  },
};
