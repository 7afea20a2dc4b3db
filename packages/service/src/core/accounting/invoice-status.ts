/** How the provider marks invoices paid or cancels them. */
import { sql } from 'kysely';

import { Refusal } from '../../rules/refusal.ts';
import { invoiceAfter } from '../../rules/invoice.ts';
import type { InvoiceEvent } from '../../rules/invoice.ts';
import type { Db } from '../../store/store.ts';

/**
 * Marks an open invoice paid. Its total no longer counts against the credit limit.
 *
 * @throws Refusal 404 if the invoice does not exist, 409 if it is not open.
 */
export function markInvoicePaid(db: Db, invoiceId: string): Promise<void> {
  return changeStatus(db, invoiceId, 'pay');
}

/**
 * Cancels an open invoice. It is no longer owed.
 *
 * @throws Refusal 404 if the invoice does not exist, 409 if it is not open.
 */
export function cancelInvoice(db: Db, invoiceId: string): Promise<void> {
  return changeStatus(db, invoiceId, 'cancel');
}

async function changeStatus(db: Db, invoiceId: string, event: InvoiceEvent): Promise<void> {
  const invoice = await db.selectFrom('invoices').select('status').where('id', '=', invoiceId).executeTakeFirst();
  if (!invoice) throw new Refusal(404, 'not_found', `The invoice ${invoiceId} does not exist. Check its identifier.`);
  const status = invoiceAfter(invoice.status, event);
  // A conditional update: of two concurrent changes, only one lowers `unpaid`.
  const changed =
    status &&
    (await db
      .updateTable('invoices')
      .set({ status })
      .where('id', '=', invoiceId)
      .where('status', '=', invoice.status)
      .returning(['account_id', 'total'])
      .executeTakeFirst());
  if (!changed)
    throw new Refusal(409, 'wrong_state', `The invoice ${invoiceId} is ${invoice.status}. Only an open invoice can be paid or cancelled.`);
  await db
    .updateTable('accounts')
    .set({ unpaid: sql<number>`unpaid - ${changed.total}` })
    .where('id', '=', changed.account_id)
    .execute();
}
