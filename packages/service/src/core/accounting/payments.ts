/** Payments of accounts, and the invoices that they pay (not shown in the specification; our choice). */
import { sql } from 'kysely';
import type { Selectable } from 'kysely';
import { v7 as uuidv7 } from 'uuid';

import type { Services } from '../../delivery/runtime.ts';
import { decimalOf, euros } from '../../rules/money.ts';
import type { Money } from '../../rules/money.ts';
import { invalid, Refusal } from '../../rules/refusal.ts';
import type { Db } from '../../store/store.ts';
import type { PaymentsTable } from '../../store/tables/accounting.ts';
import { grossLeft, openInvoices, updateDebt } from './debt.ts';
import type { OpenInvoice } from './debt.ts';

/** The largest balance that a payment may lead to. Amounts are numbers of 10^-8 EUR below 2^53, which is about this much. */
const MAX_BALANCE = euros('90000000.00');

/** Money that the provider received, or that it paid back. */
export interface NewPayment {
  readonly accountId: string;
  /** Unique for the account. */
  readonly name: string;
  /** With VAT, in whole cents, more than 0. */
  readonly amount: Money;
  /** Such as `2024-11-04`. */
  readonly date: string;
  readonly method: string;
  readonly reference: string;
  /** Milliseconds. */
  readonly now: number;
}

type Payment = Selectable<PaymentsTable>;

/**
 * Records a payment, unless it is recorded already, and pays the open invoices that are due first. Documents that are pending must have been
 * issued, and the account must be locked.
 *
 * @param invoiceId The invoice to pay before all others, if any.
 * @throws Refusal 404 if the account has no such invoice. 409 if it cannot be paid, or if another payment or refund has the name. 422 if the
 * balance would be too large.
 */
export async function recordPayment(
  db: Db,
  services: Pick<Services, 'ports'>,
  payment: NewPayment,
  invoiceId: string | null,
): Promise<void> {
  const { accountId, amount } = payment;
  if (await isRecorded(db, 'payment', payment, invoiceId)) return;
  if (invoiceId !== null) await assertPayable(db, accountId, invoiceId);
  await assertWithinMaximum(db, payment);
  await insertPayment(db, services, payment, { kind: 'payment', invoice_id: invoiceId, unused: Number(amount) });
  await payInvoices(db, accountId, invoiceId);
}

/** @throws Refusal 422 if the balance could become larger than the store can count. */
async function assertWithinMaximum(db: Db, { accountId, amount }: NewPayment): Promise<void> {
  const { balance } = await db.selectFrom('accounts').select('balance').where('id', '=', accountId).executeTakeFirstOrThrow();
  if (BigInt(balance) + amount <= MAX_BALANCE) return;
  const message = `must be at most ${decimalOf(MAX_BALANCE - BigInt(balance))}, because the balance of an account is at most ${decimalOf(MAX_BALANCE)} EUR`;
  throw invalid([{ field: 'amount', rule: 'maximum', message }]);
}

/**
 * Records a refund, unless it is recorded already. The account must be locked.
 *
 * @throws Refusal 409 if it exceeds the balance, or if another payment or refund has the name.
 */
export async function recordRefund(db: Db, services: Pick<Services, 'ports'>, refund: NewPayment): Promise<void> {
  const { accountId, amount } = refund;
  if (await isRecorded(db, 'refund', refund, null)) return;
  const { balance } = await db.selectFrom('accounts').select('balance').where('id', '=', accountId).executeTakeFirstOrThrow();
  if (amount > BigInt(balance))
    throw new Refusal(
      409,
      'wrong_state',
      `The amount is ${decimalOf(amount)} EUR, but the balance of the account is ${decimalOf(BigInt(balance))} EUR. Refund at most the balance.`,
    );
  const id = await insertPayment(db, services, refund, { kind: 'refund', invoice_id: null, unused: 0 });
  await usePayments(db, await unusedPayments(db, accountId), { kind: 'refund', usedFor: id, amount });
  await updateDebt(db, accountId);
}

/**
 * Reverses a payment. Its invoices are open again, in the order of their periods, unless other payments pay them. The account must be locked.
 *
 * @throws Refusal 409 if a part of the payment was refunded.
 */
export async function reversePayment(db: Db, payment: Payment, { reason, now }: { reason: string; now: number }): Promise<void> {
  const uses = await db
    .selectFrom('payment_uses')
    .leftJoin('invoices', 'invoices.id', 'used_for')
    .select(['payment_uses.kind', 'used_for', 'amount'])
    .where('payment_id', '=', payment.id)
    .orderBy('period_end')
    .orderBy('used_for')
    .execute();
  if (payment.kind === 'refund' || uses.some(({ kind }) => kind === 'refund'))
    throw new Refusal(
      409,
      'wrong_state',
      'Only a payment can be reversed of which nothing was refunded. Record what was paid back again as a payment.',
    );
  await db.deleteFrom('payment_uses').where('payment_id', '=', payment.id).execute();
  await db.updateTable('payments').set({ unused: 0, reversed: now, reversal_reason: reason }).where('id', '=', payment.id).execute();
  for (const { used_for, amount } of uses)
    await db
      .updateTable('invoices')
      .set({ paid: sql<number>`paid - ${amount}`, status: sql<string>`case when status = 'PAID' then 'OPEN' else status end` })
      .where('id', '=', used_for)
      .execute();
  await payInvoices(db, payment.account_id);
}

/**
 * Gives back what was paid of an invoice beyond what its credit notes leave of it, the last payment first, and pays other invoices with it. The
 * account must be locked.
 */
export async function releaseOverpaid(db: Db, invoice: { id: string; account_id: string }): Promise<void> {
  const documents = await db.selectFrom('issued_documents').select(['kind', 'net', 'vat']).where('invoice_id', '=', invoice.id).execute();
  const uses = await db
    .selectFrom('payment_uses')
    .innerJoin('payments', 'payments.id', 'payment_uses.payment_id')
    .select(['payment_id', 'payment_uses.amount'])
    .where('used_for', '=', invoice.id)
    .orderBy('created', 'desc')
    .orderBy('payment_id', 'desc')
    .execute();
  let surplus = uses.reduce((sum, { amount }) => sum + BigInt(amount), 0n) - grossLeft(documents);
  for (const { payment_id, amount } of uses) {
    if (surplus <= 0n) break;
    const part = surplus < BigInt(amount) ? surplus : BigInt(amount);
    surplus -= part;
    await takeBack(db, { paymentId: payment_id, invoiceId: invoice.id, paid: amount }, part);
  }
  await payInvoices(db, invoice.account_id);
}

/** Pays the open invoices of an account with its balance, in the order in which they are due. The account must be locked. */
export async function payInvoices(db: Db, accountId: string, first: string | null = null): Promise<void> {
  const invoices = await openInvoices(db, accountId);
  const payments = await unusedPayments(db, accountId);
  for (const invoice of [...invoices.filter(({ id }) => id === first), ...invoices.filter(({ id }) => id !== first)])
    await payInvoice(db, invoice, payments);
  await updateDebt(db, accountId);
}

async function payInvoice(db: Db, { id, gross, paid }: OpenInvoice, payments: Unused[]): Promise<void> {
  if (gross === undefined) return;
  const used = await usePayments(db, payments, { kind: 'invoice', usedFor: id, amount: gross - paid });
  if (used > 0n || paid >= gross)
    await db
      .updateTable('invoices')
      .set({ paid: Number(paid + used), ...(paid + used >= gross && { status: 'PAID' }) })
      .where('id', '=', id)
      .execute();
}

/** A payment with a part that is not used yet. */
interface Unused {
  readonly id: string;
  unused: Money;
}

async function unusedPayments(db: Db, accountId: string): Promise<Unused[]> {
  const rows = await db
    .selectFrom('payments')
    .select(['id', 'unused'])
    .where('account_id', '=', accountId)
    .where('unused', '>', 0)
    .orderBy('created')
    .orderBy('id')
    .execute();
  return rows.map(({ id, unused }) => ({ id, unused: BigInt(unused) }));
}

interface Purpose {
  readonly kind: 'invoice' | 'refund';
  readonly usedFor: string;
  readonly amount: Money;
}

/**
 * Uses unused parts of payments, the earliest payment first.
 *
 * @returns The amount that was found, at most that of the purpose.
 */
async function usePayments(db: Db, payments: readonly Unused[], { kind, usedFor, amount }: Purpose): Promise<Money> {
  let found = 0n;
  for (const payment of payments) {
    const part = payment.unused < amount - found ? payment.unused : amount - found;
    if (part <= 0n) continue;
    found += part;
    payment.unused -= part;
    await db
      .insertInto('payment_uses')
      .values({ payment_id: payment.id, used_for: usedFor, kind, amount: Number(part) })
      .onConflict((conflict) =>
        conflict.columns(['payment_id', 'used_for']).doUpdateSet({ amount: sql<number>`payment_uses.amount + ${Number(part)}` }),
      )
      .execute();
    await db
      .updateTable('payments')
      .set({ unused: Number(payment.unused) })
      .where('id', '=', payment.id)
      .execute();
  }
  return found;
}

/** Takes a part of a payment back from the invoice that it pays. The part is at most all that it pays of the invoice. */
async function takeBack(
  db: Db,
  { paymentId, invoiceId, paid }: { paymentId: string; invoiceId: string; paid: number },
  part: Money,
): Promise<void> {
  const amount = Number(part);
  if (amount === paid) await db.deleteFrom('payment_uses').where('payment_id', '=', paymentId).where('used_for', '=', invoiceId).execute();
  else
    await db
      .updateTable('payment_uses')
      .set({ amount: paid - amount })
      .where('payment_id', '=', paymentId)
      .where('used_for', '=', invoiceId)
      .execute();
  await db
    .updateTable('payments')
    .set({ unused: sql<number>`unused + ${amount}` })
    .where('id', '=', paymentId)
    .execute();
  await db
    .updateTable('invoices')
    .set({ paid: sql<number>`paid - ${amount}` })
    .where('id', '=', invoiceId)
    .execute();
}

type Recorded = Pick<PaymentsTable, 'kind' | 'invoice_id' | 'unused'>;

async function insertPayment(db: Db, { ports }: Pick<Services, 'ports'>, payment: NewPayment, recorded: Recorded): Promise<string> {
  const { accountId, name, amount, date, method, reference, now } = payment;
  const id = uuidv7({ msecs: now, random: ports.random.bytes(16) });
  await db
    .insertInto('payments')
    .values({
      ...recorded,
      id,
      account_id: accountId,
      name,
      amount: Number(amount),
      date,
      method,
      reference,
      created: now,
      reversed: null,
      reversal_reason: null,
    })
    .execute();
  return id;
}

/** @throws Refusal 409 if another payment or refund has the name. */
async function isRecorded(db: Db, kind: Payment['kind'], payment: NewPayment, invoiceId: string | null): Promise<boolean> {
  const { accountId, name, amount, date, method, reference } = payment;
  const existing = await db
    .selectFrom('payments')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('name', '=', name)
    .executeTakeFirst();
  if (!existing) return false;
  const isSame =
    existing.kind === kind &&
    BigInt(existing.amount) === amount &&
    existing.date === date &&
    existing.method === method &&
    existing.reference === reference &&
    existing.invoice_id === invoiceId;
  if (isSame) return true;
  throw new Refusal(409, 'wrong_state', `The account already has another ${existing.kind} with the name ${name}. Choose another name.`);
}

/** @throws Refusal 404 if the account has no such invoice, 409 if it is not open or has no document. */
async function assertPayable(db: Db, accountId: string, invoiceId: string): Promise<void> {
  const invoice = await db
    .selectFrom('invoices')
    .select(['status', 'number'])
    .where('id', '=', invoiceId)
    .where('account_id', '=', accountId)
    .where('status', '!=', 'CLOSING')
    .executeTakeFirst();
  if (!invoice) throw new Refusal(404, 'not_found', `The account has no invoice ${invoiceId}. Check its identifier.`);
  if (invoice.status !== 'OPEN')
    throw new Refusal(
      409,
      'wrong_state',
      `The invoice ${invoiceId} is ${invoice.status}. Only an open invoice can be paid. Send the payment again without the invoice: it pays the other open invoices, and the rest is added to the balance of the account.`,
    );
  if (invoice.number === null)
    throw new Refusal(
      409,
      'wrong_state',
      'The invoice has no document that states what is to be paid, because no seller is set. Set the seller first.',
    );
}
