/** The documents and payments that the model expects. Amounts are in cents. */
import { invoicesOf } from './model-invoices.ts';
import type { ModelInvoice } from './model-invoices.ts';
import { grossOf, highestRateIn, netOf, vatOfCorrection, vatOfMonth } from './model-vat.ts';
import type { Model, ModelAccount, ModelDocument, ModelPayment, Seconds } from './model.ts';

/** The unused parts of the payments of an account. */
export function balanceOf({ payments }: ModelAccount): bigint {
  return payments.reduce((sum, { unused }) => sum + unused, 0n);
}

/** The net amount that the balance pays with VAT, at the highest rate of the open period, rounded down. */
export function balanceCredit(model: Model, account: ModelAccount): bigint {
  return (balanceOf(account) * 10_000n) / (10_000n + BigInt(highestRateIn(model, account, account.period)));
}

/** The gross amount of an invoice after its credit notes. */
export function grossLeft({ sums, notes }: ModelDocument): bigint {
  return notes.reduce((left, note) => left - grossOf(note.sums), grossOf(sums));
}

/** Issues the documents of all closed months, and pays them with the balance. */
export function issueModelDocuments(model: Model): void {
  for (const account of model.accounts) {
    const pending = invoicesOf(model, account, account.period).filter(({ month }) => !account.documents.has(month));
    for (const { month, cents } of pending)
      account.documents.set(month, { sums: vatOfMonth(model, account, month, cents), notes: [], paid: 0n });
    if (pending.length > 0 && balanceOf(account) > 0n) payInvoices(model, account);
  }
}

export function invoiceOf(model: Model, account: ModelAccount, month: Seconds): ModelInvoice | undefined {
  return invoicesOf(model, account, account.period).find((invoice) => invoice.month === month);
}

/** Pays the open invoices with the unused payments, the earliest of both first. */
export function payInvoices(model: Model, account: ModelAccount, first?: Seconds): void {
  const open = invoicesOf(model, account, account.period).filter(({ status }) => status === 'OPEN');
  const order = open.toSorted((one, other) => Number(other.month === first) - Number(one.month === first) || one.month - other.month);
  for (const { month } of order) {
    const document = account.documents.get(month);
    if (!document) continue;
    document.paid += use(account, month, grossLeft(document) - document.paid);
    if (document.paid === grossLeft(document)) account.settled.set(month, 'PAID');
  }
}

/** @returns The amount that was found. */
export function use({ payments }: ModelAccount, purpose: Seconds | string, wanted: bigint): bigint {
  let found = 0n;
  for (const payment of payments) {
    const part = payment.unused < wanted - found ? payment.unused : wanted - found;
    if (part === 0n) continue;
    payment.unused -= part;
    payment.uses.set(purpose, (payment.uses.get(purpose) ?? 0n) + part);
    found += part;
  }
  return found;
}

/** Undoes a payment. */
export function reverse(model: Model, account: ModelAccount, payment: ModelPayment): void {
  payment.unused = 0n;
  payment.isReversed = true;
  for (const [month, amount] of payment.uses) {
    if (typeof month === 'string') continue;
    const document = account.documents.get(month);
    if (document) document.paid -= amount;
    if (account.settled.get(month) === 'PAID') account.settled.delete(month);
  }
  payment.uses.clear();
  payInvoices(model, account);
}

/** The net amount of an invoice after its credit notes. */
export function netLeft({ sums, notes }: ModelDocument): bigint {
  return notes.reduce((left, note) => left - netOf(note.sums), netOf(sums));
}

/** Corrects an invoice. Payments beyond the rest pay other invoices, the last payment first. */
export function correct(model: Model, account: ModelAccount, month: Seconds, note: { amount: bigint; reason: string }): void {
  const document = account.documents.get(month);
  if (!document) throw new Error('The invoice has no document.');
  const credited = document.notes.flatMap(({ sums }) => sums);
  document.notes.push({ reason: note.reason, sums: vatOfCorrection(document.sums, credited, note.amount) });
  if (netLeft(document) === 0n && account.settled.get(month) !== 'PAID') account.settled.set(month, 'CANCELED');
  for (const payment of account.payments.toReversed()) {
    const paid = payment.uses.get(month) ?? 0n;
    const surplus = document.paid - grossLeft(document);
    const part = surplus < paid ? surplus : paid;
    if (part <= 0n) continue;
    document.paid -= part;
    payment.unused += part;
    if (part === paid) payment.uses.delete(month);
    else payment.uses.set(month, paid - part);
  }
  payInvoices(model, account);
}
