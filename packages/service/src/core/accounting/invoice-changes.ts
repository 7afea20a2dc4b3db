/** How the provider corrects, cancels and closes invoices (not shown in the specification; our choice). */
import type { Selectable } from 'kysely';
import { v7 as uuidv7 } from 'uuid';

import type { Services } from '../../delivery/runtime.ts';
import { dayIn } from '../../rules/day.ts';
import { invoiceAfter } from '../../rules/invoice.ts';
import type { InvoiceEvent, InvoiceStatus } from '../../rules/invoice.ts';
import { decimalOf } from '../../rules/money.ts';
import type { Money } from '../../rules/money.ts';
import { Refusal } from '../../rules/refusal.ts';
import { lockAccount } from '../../store/account-lock.ts';
import { readTimeZone } from '../../store/settings.ts';
import type { Db } from '../../store/store.ts';
import type { InvoicesTable } from '../../store/tables/accounting.ts';
import { openInvoices, updateDebt } from './debt.ts';
import { issueAllPending, issueCreditNote } from './invoice-document/issue.ts';
import { recordPayment, releaseOverpaid } from './payments.ts';

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
  await issueCreditNote(db, services, { invoice, name, amount, reason, now });
  await db
    .updateTable('invoices')
    .set({ credited: Number(credited + amount), ...(invoice.status === 'OPEN' && amount === left && { status: 'CANCELED' }) })
    .where('id', '=', invoiceId)
    .execute();
  await releaseOverpaid(db, invoice);
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
  const left = BigInt(invoice.total) - BigInt(invoice.credited);
  if (invoice.number !== null)
    await issueCreditNote(db, services, { invoice, name: CANCELLATION, amount: left, reason: 'Cancellation', now });
  await db.updateTable('invoices').set({ status, credited: invoice.total }).where('id', '=', invoiceId).execute();
  await releaseOverpaid(db, invoice);
}

/**
 * Records a payment of all that is left to pay of an open invoice. An invoice without a document only becomes paid, because nothing states its
 * gross amount.
 *
 * @throws Refusal 404 if the invoice does not exist, 409 if it is not open.
 */
export async function markInvoicePaid(
  db: Db,
  services: Pick<Services, 'ports'>,
  { invoiceId, now }: { readonly invoiceId: string; readonly now: number },
): Promise<void> {
  const invoice = await lockInvoice(db, invoiceId);
  const { account_id: accountId, number } = invoice;
  const status = statusAfter(invoice, 'pay');
  const { gross, paid } = (await openInvoices(db, accountId)).find(({ id }) => id === invoiceId) ?? { gross: undefined, paid: 0n };
  if (gross === undefined || number === null) {
    await db.updateTable('invoices').set({ status }).where('id', '=', invoiceId).execute();
    return updateDebt(db, accountId);
  }
  const name = uuidv7({ msecs: now, random: services.ports.random.bytes(16) });
  const payment = {
    accountId,
    name,
    amount: gross - paid,
    date: dayIn(await readTimeZone(db), now),
    method: 'unspecified',
    reference: number,
    now,
  };
  await recordPayment(db, services, payment, invoiceId);
}

function statusAfter({ id, status }: Pick<InvoicesTable, 'id' | 'status'>, event: InvoiceEvent): InvoiceStatus {
  const next = invoiceAfter(status, event);
  if (!next) throw new Refusal(409, 'wrong_state', `The invoice ${id} is ${status}. Only an open invoice can be paid or cancelled.`);
  return next;
}

/**
 * Locks the series of documents, then the account of an invoice, so that its changes run one after another. Every transaction locks them in this
 * order.
 */
export async function lockInvoice(db: Db, id: string): Promise<Selectable<InvoicesTable>> {
  await issueAllPending(db);
  const invoice = db.selectFrom('invoices').selectAll().where('id', '=', id).where('status', '!=', 'CLOSING');
  const found = await invoice.executeTakeFirst();
  if (!found) throw new Refusal(404, 'not_found', `The invoice ${id} does not exist. Check its identifier.`);
  await lockAccount(db, found.account_id);
  return invoice.executeTakeFirstOrThrow();
}
