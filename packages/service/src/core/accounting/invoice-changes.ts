/** How the provider corrects, cancels and closes invoices (not shown in the specification; our choice). */
import { sql } from 'kysely';
import type { Selectable } from 'kysely';

import type { Services } from '../../delivery/runtime.ts';
import { invoiceAfter } from '../../rules/invoice.ts';
import type { InvoiceEvent, InvoiceStatus } from '../../rules/invoice.ts';
import { decimalOf } from '../../rules/money.ts';
import type { Money } from '../../rules/money.ts';
import { Refusal } from '../../rules/refusal.ts';
import type { Db } from '../../store/store.ts';
import type { InvoicesTable } from '../../store/tables/invoices.ts';
import { issueCreditNote, issuePending } from './invoice-document/issue.ts';

/** The name of the credit note that cancels an invoice. */
const CANCELLATION = 'cancellation';

/** A correction that the operator names, so that a repeated request does not correct twice. */
export interface NewCreditNote {
  readonly invoiceId: string;
  readonly name: string;
  /** Units, in whole cents, more than 0. */
  readonly amount: Money;
  readonly reason: string;
  /** Milliseconds. */
  readonly now: number;
}

/**
 * Corrects an issued invoice. The credit note reduces the amount that is owed for an open invoice. An invoice that is fully credited is
 * cancelled.
 *
 * @throws Refusal 404 if the invoice does not exist. 409 if it has no document yet, if it is cancelled, if less than the amount is left of
 *   it, or if the name belongs to another correction.
 */
export async function createCreditNote(db: Db, services: Pick<Services, 'ports'>, note: NewCreditNote): Promise<void> {
  const { invoiceId, name, amount, reason, now } = note;
  if (name === CANCELLATION)
    throw new Refusal(409, 'wrong_state', `The name ${CANCELLATION} is reserved for cancelled invoices. Choose another name.`);
  // This locks the series before the invoice, in the same order as every transaction that issues documents.
  while ((await issuePending(db)) > 0);
  const invoice = await lockInvoice(db, invoiceId);
  const existing = await db
    .selectFrom('issued_documents')
    .select(['net', 'reason'])
    .where('invoice_id', '=', invoiceId)
    .where('name', '=', name)
    .executeTakeFirst();
  if (existing) {
    if (BigInt(existing.net) === amount && existing.reason === reason) return;
    throw new Refusal(
      409,
      'wrong_state',
      `The invoice already has a credit note ${name} with another amount or reason. Choose another name.`,
    );
  }
  if (invoice.number === null)
    throw new Refusal(
      409,
      'wrong_state',
      'The invoice has no document that could be corrected, because no seller is set. Set the seller, or cancel the invoice.',
    );
  if (invoice.status === 'CANCELED') throw new Refusal(409, 'wrong_state', 'The invoice is cancelled. Nothing is left to credit.');
  const credited = BigInt(invoice.credited);
  const left = BigInt(invoice.total) - credited;
  if (amount > left)
    throw new Refusal(
      409,
      'wrong_state',
      `The amount is ${decimalOf(amount)} EUR, but only ${decimalOf(left)} EUR are left of the invoice.`,
    );
  await issueCreditNote(db, services, { invoice, name, amount, reason, credited, now });
  await db
    .updateTable('invoices')
    .set({ credited: Number(credited + amount), ...(invoice.status === 'OPEN' && amount === left && { status: 'CANCELED' }) })
    .where('id', '=', invoiceId)
    .execute();
  if (invoice.status === 'OPEN') await oweLess(db, invoice.account_id, amount);
}

/**
 * Cancels an open invoice. It is no longer owed. If its document is issued, a credit note corrects all that is left of it.
 *
 * @param cancellation The invoice and the time, in milliseconds.
 * @throws Refusal 404 if the invoice does not exist, 409 if it is not open.
 */
export async function cancelInvoice(
  db: Db,
  services: Pick<Services, 'ports'>,
  { invoiceId, now }: { readonly invoiceId: string; readonly now: number },
): Promise<void> {
  const invoice = await lockInvoice(db, invoiceId);
  const status = statusAfter(invoice, 'cancel');
  const credited = BigInt(invoice.credited);
  const left = BigInt(invoice.total) - credited;
  if (invoice.number !== null)
    await issueCreditNote(db, services, { invoice, name: CANCELLATION, amount: left, reason: 'Cancellation', credited, now });
  await db.updateTable('invoices').set({ status, credited: invoice.total }).where('id', '=', invoiceId).execute();
  await oweLess(db, invoice.account_id, left);
}

/**
 * Marks an open invoice paid. Its total no longer counts against the credit limit.
 *
 * @throws Refusal 404 if the invoice does not exist, 409 if it is not open.
 */
export async function markInvoicePaid(db: Db, invoiceId: string): Promise<void> {
  const invoice = await lockInvoice(db, invoiceId);
  await db
    .updateTable('invoices')
    .set({ status: statusAfter(invoice, 'pay') })
    .where('id', '=', invoiceId)
    .execute();
  await oweLess(db, invoice.account_id, BigInt(invoice.total) - BigInt(invoice.credited));
}

function statusAfter({ id, status }: Pick<InvoicesTable, 'id' | 'status'>, event: InvoiceEvent): InvoiceStatus {
  const next = invoiceAfter(status, event);
  if (!next) throw new Refusal(409, 'wrong_state', `The invoice ${id} is ${status}. Only an open invoice can be paid or cancelled.`);
  return next;
}

/** Locks an invoice until the transaction ends, so that its changes run one after another. */
async function lockInvoice(db: Db, id: string): Promise<Selectable<InvoicesTable>> {
  const invoice = await db
    .updateTable('invoices')
    .set(({ ref }) => ({ credited: ref('credited') }))
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirst();
  if (!invoice) throw new Refusal(404, 'not_found', `The invoice ${id} does not exist. Check its identifier.`);
  return invoice;
}

async function oweLess(db: Db, accountId: string, amount: Money): Promise<void> {
  await db
    .updateTable('accounts')
    .set({ unpaid: sql<number>`unpaid - ${Number(amount)}` })
    .where('id', '=', accountId)
    .execute();
}
