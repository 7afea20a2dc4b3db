/** What the provider does with the invoices of its accounts. */
import { sql } from 'kysely';

import { Refusal } from '../../rules/refusal.ts';
import { invoiceAfter } from '../../rules/invoice.ts';
import type { InvoiceEvent } from '../../rules/invoice.ts';
import type { Db } from '../../store/store.ts';

/**
 * Marks an open invoice paid: its total counts against the credit limit no more.
 *
 * @throws Refusal 404 when there is no such invoice, 409 when it is not open.
 */
export function markInvoicePaid(db: Db, invoiceId: string): Promise<void> {
  return settle(db, invoiceId, 'pay');
}

/**
 * Cancels an open invoice: it is not owed any more.
 *
 * @throws Refusal 404 when there is no such invoice, 409 when it is not open.
 */
export function cancelInvoice(db: Db, invoiceId: string): Promise<void> {
  return settle(db, invoiceId, 'cancel');
}

async function settle(db: Db, invoiceId: string, event: InvoiceEvent): Promise<void> {
  const invoice = await db.selectFrom('invoices').select('status').where('id', '=', invoiceId).executeTakeFirst();
  if (!invoice) throw new Refusal(404, 'not_found', `There is no invoice ${invoiceId}.`);
  const status = invoiceAfter(invoice.status, event);
  // One conditional update: of two that settle the invoice at once, one lowers what is unpaid.
  const settled =
    status &&
    (await db
      .updateTable('invoices')
      .set({ status })
      .where('id', '=', invoiceId)
      .where('status', '=', invoice.status)
      .returning(['account_id', 'total'])
      .executeTakeFirst());
  if (!settled)
    throw new Refusal(409, 'wrong_state', `The invoice ${invoiceId} is ${invoice.status}. Only an open invoice can be paid or cancelled.`);
  await db
    .updateTable('accounts')
    .set({ unpaid: sql<number>`unpaid - ${settled.total}` })
    .where('id', '=', settled.account_id)
    .execute();
}
