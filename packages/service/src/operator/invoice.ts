import type { Invoice } from '@reseller/operator-client';
import { sql } from 'kysely';
import type { Selectable } from 'kysely';

import { cancelInvoice as cancel, markInvoicePaid as markPaid } from '../core/accounting/invoice-status.ts';
import { decimalOf } from '../rules/money.ts';
import type { InvoicesTable } from '../store/tables/invoices.ts';
import type { Db } from '../store/store.ts';
import type { ReadOperation, StoreOperation } from './operation.ts';
import { afterCursor, inOrder, pageOf, rowLimit } from './paging.ts';
import type { Order } from './paging.ts';
import { requireFound } from './problem.ts';
import { toInstant, secondsToInstant } from './instants.ts';

type Row = Selectable<InvoicesTable>;

const order: Order = { columns: { created: 'integer', id: 'text' }, direction: 'desc' };
const ALL = sql<boolean>`1 = 1`;

/** GET /invoices */
export const listInvoices: ReadOperation<'listInvoices'> = {
  kind: 'read',
  async run(db, { query }) {
    const { account_id: account, status } = query;
    const invoices = await db
      .selectFrom('invoices')
      .selectAll()
      .where(afterCursor(order, query))
      .where(({ eb }) => (account === undefined ? ALL : eb('account_id', '=', account)))
      .where(({ eb }) => (status === undefined ? ALL : eb('status', '=', status)))
      .orderBy(inOrder(order))
      .limit(rowLimit(query))
      .execute();
    const { rows, next_cursor } = pageOf(invoices, query, ({ created, id }) => [created, id]);
    return { items: rows.map(toInvoice), next_cursor };
  },
};

/** POST /invoices/{invoice_id}/mark-paid: a paid invoice stays as it is. */
export const markInvoicePaid: StoreOperation<'markInvoicePaid'> = {
  kind: 'store',
  before: async (db, { path }) => toInvoice(await invoiceOf(db, path.invoice_id)),
  async run({ db }, { path }) {
    const { id, status } = await invoiceOf(db, path.invoice_id);
    if (status !== 'PAID') await markPaid(db, id);
    return toInvoice(await invoiceOf(db, id));
  },
};

/** POST /invoices/{invoice_id}/cancel: a cancelled invoice stays as it is. */
export const cancelInvoice: StoreOperation<'cancelInvoice'> = {
  kind: 'store',
  before: async (db, { path }) => toInvoice(await invoiceOf(db, path.invoice_id)),
  async run({ db }, { path }) {
    const { id, status } = await invoiceOf(db, path.invoice_id);
    if (status !== 'CANCELED') await cancel(db, id);
    return toInvoice(await invoiceOf(db, id));
  },
};

async function invoiceOf(db: Db, id: string): Promise<Row> {
  return requireFound(await db.selectFrom('invoices').selectAll().where('id', '=', id).executeTakeFirst(), 'invoice of this identifier');
}

function toInvoice(invoice: Row): Invoice {
  return {
    id: invoice.id,
    account_id: invoice.account_id,
    status: invoice.status,
    period_start: secondsToInstant(invoice.period_start),
    period_end: secondsToInstant(invoice.period_end),
    total: decimalOf(BigInt(invoice.total)),
    created: toInstant(invoice.created),
  };
}
