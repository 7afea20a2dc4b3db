/** The debt and the balance of an account. */
import { sql } from 'kysely';

import { periodOf } from '../../rules/billing.ts';
import { euros } from '../../rules/money.ts';
import type { Money } from '../../rules/money.ts';
import { netOf, owedOf } from '../../rules/payment.ts';
import type { InvoiceDebt } from '../../rules/payment.ts';
import { highestRate } from '../../rules/vat.ts';
import type { Db } from '../../store/store.ts';
import { vatRatesOf } from './account-vat.ts';

/**
 * The highest debt that an account stores, so that it stays an exact number. An account that owes more can buy nothing either, and the debt is
 * computed from its invoices again when one of them changes.
 */
export const MOST_UNPAID = euros('90000000.00');

export interface OpenInvoice extends InvoiceDebt {
  readonly id: string;
  /** Milliseconds. Infinity until its document is issued. */
  readonly due: number;
}

/** The open invoices of an account, in the order in which they are due. */
export async function openInvoices(db: Db, accountId: string): Promise<OpenInvoice[]> {
  const rows = await db
    .selectFrom('invoices')
    .leftJoin('issued_documents', 'issued_documents.invoice_id', 'invoices.id')
    .select(['invoices.id', 'total', 'credited', 'paid', 'kind', 'net', 'vat', 'due'])
    .where('invoices.account_id', '=', accountId)
    .where('status', '=', 'OPEN')
    .orderBy('period_end')
    .orderBy('invoices.id')
    .execute();
  return [...Map.groupBy(rows, ({ id }) => id).values()]
    .flatMap(([first, ...others]) => (first ? [toOpenInvoice(first, [first, ...others])] : []))
    .toSorted((one, other) => one.due - other.due);
}

interface JoinedRow {
  readonly id: string;
  readonly total: number;
  readonly credited: number;
  readonly paid: number;
  /** Null for an invoice without documents. */
  readonly kind: string | null;
  readonly net: number | null;
  readonly vat: number | null;
  readonly due: number | null;
}

function toOpenInvoice({ id, total, credited, paid }: JoinedRow, documents: readonly JoinedRow[]): OpenInvoice {
  const issued = documents.find(({ kind }) => kind === 'invoice');
  return {
    id,
    net: BigInt(total) - BigInt(credited),
    gross: issued && grossLeft(documents),
    paid: BigInt(paid),
    due: issued?.due ?? Infinity,
  };
}

/** The gross amount of an issued document. */
export function grossOfDocument({ net, vat }: { readonly net: number; readonly vat: number }): Money {
  return BigInt(net) + BigInt(vat);
}

/** The gross amount of an invoice after its credit notes. */
export function grossLeft(documents: readonly { kind: string | null; net: number | null; vat: number | null }[]): Money {
  return documents.reduce((sum, { kind, net, vat }) => {
    const gross = BigInt(net ?? 0) + BigInt(vat ?? 0);
    return kind === 'invoice' ? sum + gross : sum - gross;
  }, 0n);
}

/** Computes the debt and the balance of an account after its invoices or payments have changed. The transaction must have locked the account. */
export async function updateDebt(db: Db, accountId: string): Promise<void> {
  const unpaid = (await openInvoices(db, accountId)).reduce((sum, invoice) => sum + owedOf(invoice), 0n);
  const { balance } = await db
    .selectFrom('payments')
    .select(sql<number>`coalesce(sum(unused), 0)`.as('balance'))
    .where('account_id', '=', accountId)
    .executeTakeFirstOrThrow();
  await db
    .updateTable('accounts')
    .set({ unpaid: Number(unpaid < MOST_UNPAID ? unpaid : MOST_UNPAID), balance: Number(balance) })
    .where('id', '=', accountId)
    .execute();
  await updateBalanceCredit(db, accountId);
}

/**
 * Computes the amount that the balance of an account adds to its credit. It counts at the highest VAT rate of the open period, so that it pays for
 * everything that this credit buys.
 */
export async function updateBalanceCredit(db: Db, accountId: string): Promise<void> {
  const account = await db
    .selectFrom('accounts')
    .select(['balance', 'balance_credit', 'period_start'])
    .where('id', '=', accountId)
    .executeTakeFirstOrThrow();
  if (account.balance === 0 && account.balance_credit === 0) return;
  const { start, end } = periodOf(account.period_start);
  const basisPoints = highestRate(await vatRatesOf(db, accountId), start * 1000, end * 1000);
  await db
    .updateTable('accounts')
    .set({ balance_credit: Number(netOf(BigInt(account.balance), basisPoints)) })
    .where('id', '=', accountId)
    .execute();
}
