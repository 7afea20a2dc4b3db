import type { BrokenRule, CreditNote, Invoice, InvoiceDetail, InvoiceGroup, VatAmount } from '@reseller/operator-client';
import { sql } from 'kysely';
import type { Selectable } from 'kysely';

import { grossLeft, grossOfDocument } from '../core/accounting/debt.ts';
import {
  cancelInvoice as cancel,
  createCreditNote as correct,
  lockInvoice,
  markInvoicePaid as markPaid,
} from '../core/accounting/invoice-changes.ts';
import type { Group } from '../core/accounting/invoice-document/content.ts';
import { documentOf, vatSumsOf } from '../core/accounting/invoice-document/issue.ts';
import { contentOf } from '../core/accounting/invoice-document/stored-content.ts';
import { linkTo } from '../core/accounting/invoice.ts';
import type { Runtime } from '../delivery/runtime.ts';
import { dayIn } from '../rules/day.ts';
import { secondsToInstant, startOfUtcDay, toInstant } from '../rules/instants.ts';
import { decimalOf, euros, UNITS_PER_CENT } from '../rules/money.ts';
import type { Money } from '../rules/money.ts';
import { readTimeZone } from '../store/settings.ts';
import type { Db } from '../store/store.ts';
import type { InvoicesTable, IssuedDocumentsTable } from '../store/tables/accounting.ts';
import type { ReadOperation, StoreOperation } from './operation.ts';
import { readPage } from './paging.ts';
import type { Order } from './paging.ts';
import { assertNoBrokenRules, requireFound } from './problem.ts';

type Row = Selectable<InvoicesTable>;

const order: Order = { columns: { created: 'integer', id: 'text' }, direction: 'desc' };
const ALL = sql<boolean>`1 = 1`;

/** GET /invoices */
export const listInvoices: ReadOperation<'listInvoices'> = {
  kind: 'read',
  async run(db, { query, now }) {
    const { account_id: account, status, number, overdue, due_before } = query;
    // `due` is the start of the last day to pay in UTC, and the day ends in the time zone of the provider.
    const today = overdue === undefined ? undefined : startOfUtcDay(dayIn(await readTimeZone(db), now));
    const dueBefore = due_before === undefined ? undefined : startOfUtcDay(due_before);
    const invoices = db
      .selectFrom('invoices')
      .selectAll()
      .where('status', '!=', 'CLOSING')
      .where(({ eb }) => (account === undefined ? ALL : eb('account_id', '=', account)))
      .where(({ eb }) => (status === undefined ? ALL : eb('status', '=', status)))
      .where(({ eb }) => (number === undefined ? ALL : eb('number', '=', number)))
      .where(({ eb, and, selectFrom }) =>
        today === undefined
          ? ALL
          : and([eb('status', '=', 'OPEN'), eb('id', 'in', selectFrom('issued_documents').select('id').where('due', '<', today))]),
      )
      .where(({ eb, selectFrom }) =>
        dueBefore === undefined ? ALL : eb('id', 'in', selectFrom('issued_documents').select('id').where('due', '<', dueBefore)),
      );
    const { rows, next_cursor } = await readPage(invoices, order, query);
    const documents = await documentsOf(db, rows);
    return { items: rows.map((row) => toInvoice(row, documents.get(row.id) ?? [])), next_cursor };
  },
};

/** POST /invoices/{invoice_id}/mark-paid: a paid invoice stays unchanged. */
export const markInvoicePaid: StoreOperation<'markInvoicePaid'> = {
  kind: 'store',
  before: (db, { path }) => lockedInvoiceOf(db, path.invoice_id),
  async run({ db }, { path, runtime, now }) {
    const { id, status } = await invoiceRowOf(db, path.invoice_id);
    if (status !== 'PAID') await markPaid(db, runtime, { invoiceId: id, now });
    return invoiceOf(db, id);
  },
};

/** POST /invoices/{invoice_id}/cancel: a cancelled invoice stays unchanged. */
export const cancelInvoice: StoreOperation<'cancelInvoice'> = {
  kind: 'store',
  before: (db, { path }) => lockedInvoiceOf(db, path.invoice_id),
  async run({ db }, { path, runtime, now }) {
    const { id, status } = await invoiceRowOf(db, path.invoice_id);
    if (status !== 'CANCELED') await cancel(db, runtime, { invoiceId: id, now });
    return invoiceOf(db, id);
  },
};

/** GET /invoices/{invoice_id} */
export const getInvoice: ReadOperation<'getInvoice'> = {
  kind: 'read',
  async run(db, { path, runtime }) {
    const invoice = await invoiceRowOf(db, path.invoice_id);
    const documents = (await documentsOf(db, [invoice])).get(invoice.id) ?? [];
    const stored = await documentOf(db, invoice.id);
    const groups = stored ? (await contentOf(stored)).groups : [];
    return toInvoiceDetail(invoice, { documents, groups }, runtime);
  },
};

/** PUT /invoices/{invoice_id}/credit-notes/{credit_note}: a repeated request with the same body changes nothing. */
export const createCreditNote: StoreOperation<'createCreditNote'> = {
  kind: 'store',
  async run({ db }, { path: { invoice_id: idOrNumber, credit_note: name }, body, runtime, now }) {
    const amount = euros(body.amount);
    assertNoBrokenRules(brokenAmount(amount));
    const { id: invoiceId } = await invoiceRowOf(db, idOrNumber);
    await correct(db, runtime, { invoiceId, name, amount, reason: body.reason, now });
    const document = await db
      .selectFrom('issued_documents')
      .select(DOCUMENT_COLUMNS)
      .where('invoice_id', '=', invoiceId)
      .where('name', '=', name)
      .executeTakeFirstOrThrow();
    return toCreditNote(document, runtime);
  },
};

export function brokenAmount(amount: Money): BrokenRule[] {
  const isValid = amount > 0n && amount % UNITS_PER_CENT === 0n;
  return isValid ? [] : [{ pointer: '#/amount', detail: 'must be more than 0 and in whole cents, such as 5.00' }];
}

/** The invoice with an identifier, or else with a number. */
async function invoiceRowOf(db: Db, idOrNumber: string): Promise<Row> {
  const invoices = db.selectFrom('invoices').selectAll('invoices').where('status', '!=', 'CLOSING');
  const numbered = invoices
    .innerJoin('issued_documents', 'issued_documents.id', 'invoices.id')
    .where('issued_documents.number', '=', idOrNumber);
  const found = (await invoices.where('invoices.id', '=', idOrNumber).executeTakeFirst()) ?? (await numbered.executeTakeFirst());
  return requireFound(found, 'invoice of this identifier');
}

async function invoiceOf(db: Db, id: string): Promise<Invoice> {
  const row = await invoiceRowOf(db, id);
  return toInvoice(row, (await documentsOf(db, [row])).get(row.id) ?? []);
}

/** Reads an invoice after locking it, so that no other transaction changes it until this one ends. */
async function lockedInvoiceOf(db: Db, idOrNumber: string): Promise<Invoice> {
  const { id } = await invoiceRowOf(db, idOrNumber);
  await lockInvoice(db, id);
  return invoiceOf(db, id);
}

/** The columns of a document but its content and its PDF, which take megabytes for a large account. */
const DOCUMENT_COLUMNS = ['id', 'invoice_id', 'kind', 'name', 'number', 'net', 'vat', 'vat_by_rate', 'reason', 'issued', 'due'] as const;
type Document = Pick<Selectable<IssuedDocumentsTable>, (typeof DOCUMENT_COLUMNS)[number]>;

/** The documents of invoices, the earliest first. */
async function documentsOf(db: Db, invoices: readonly Row[]): Promise<ReadonlyMap<string, Document[]>> {
  if (invoices.length === 0) return new Map();
  const ids = invoices.map(({ id }) => id);
  const documents = await db
    .selectFrom('issued_documents')
    .select(DOCUMENT_COLUMNS)
    .where('invoice_id', 'in', ids)
    .orderBy('issued')
    .orderBy('number')
    .execute();
  return Map.groupBy(documents, ({ invoice_id }) => invoice_id);
}

function toInvoice(invoice: Row, documents: readonly Document[]): Invoice {
  const document = documents.find(({ kind }) => kind === 'invoice');
  return {
    id: invoice.id,
    account_id: invoice.account_id,
    status: invoice.status,
    period_start: secondsToInstant(invoice.period_start),
    period_end: secondsToInstant(invoice.period_end),
    total: decimalOf(BigInt(invoice.total)),
    number: invoice.number,
    due: typeof document?.due === 'number' ? toInstant(document.due) : null,
    gross: document ? decimalOf(grossOfDocument(document)) : null,
    unpaid: document ? decimalOf(invoice.status === 'OPEN' ? grossLeft(documents) - BigInt(invoice.paid) : 0n) : null,
    created: toInstant(invoice.created),
  };
}

interface Issued {
  readonly documents: readonly Document[];
  readonly groups: readonly Group[];
}

function toInvoiceDetail(invoice: Row, { documents, groups }: Issued, runtime: Runtime): InvoiceDetail {
  const document = documents.find(({ kind }) => kind === 'invoice');
  return {
    ...toInvoice(invoice, documents),
    vat: document ? decimalOf(BigInt(document.vat)) : null,
    vat_by_rate: document ? toVatByRate(document) : [],
    document: linkTo(invoice.id, runtime),
    xml: linkTo(invoice.id, runtime, 'xml'),
    credit_notes: documents.filter(({ kind }) => kind === 'credit_note').map((note) => toCreditNote(note, runtime)),
    groups: groups.map(toGroup),
  };
}

function toGroup({ title, lines, total }: Group): InvoiceGroup {
  return {
    title,
    lines: lines.map(({ title: name, details, time, quantity, unitPrice, amount, basisPoints }) => ({
      title: name,
      details,
      time,
      quantity,
      unit_price: unitPrice,
      amount,
      vat_basis_points: basisPoints,
    })),
    total,
  };
}

function toCreditNote(document: Document, runtime: Runtime): CreditNote {
  const { id, name, number, net, vat, reason, issued } = document;
  return {
    name: name ?? '',
    number,
    amount: decimalOf(BigInt(net)),
    vat: decimalOf(BigInt(vat)),
    vat_by_rate: toVatByRate(document),
    gross: decimalOf(grossOfDocument(document)),
    reason: reason ?? '',
    created: toInstant(issued),
    document: linkTo(id, runtime),
    xml: linkTo(id, runtime, 'xml'),
  };
}

function toVatByRate(document: Document): VatAmount[] {
  return vatSumsOf(document).map(({ basisPoints, net, vat }) => ({ basis_points: basisPoints, net: decimalOf(net), vat: decimalOf(vat) }));
}
