/** Issues documents. A document is stored when it is issued, and never changes (not shown in the specification; our choice). */
import type { Selectable } from 'kysely';
import { v7 as uuidv7 } from 'uuid';

import type { Services } from '../../../delivery/runtime.ts';
import { decimalOf } from '../../../rules/money.ts';
import type { Money } from '../../../rules/money.ts';
import { vatOn } from '../../../rules/vat.ts';
import type { Db, Store } from '../../../store/store.ts';
import type { InvoicesTable } from '../../../store/tables/invoices.ts';
import type { IssuedDocumentsTable } from '../../../store/tables/issued-documents.ts';
import { lockAccount } from '../../account/lock.ts';
import { payInvoices } from '../payments.ts';
import { vatRateAt } from '../vat-rate.ts';
import { dayOf, groupsOf } from './content.ts';
import type { Buyer, DocumentContent } from './content.ts';
import { readBillingProfile, readSeller } from './parties.ts';
import type { Seller } from './parties.ts';
import { lockSeries, takeNumber } from './series.ts';

type Invoice = Selectable<InvoicesTable>;

const MS_PER_DAY = 86_400_000;
/** Documents that one transaction issues. It holds the lock of the series. */
const BATCH_SIZE = 25;

/**
 * Issues the documents of all invoices that have none, in the order of their periods. It issues none without a seller, and none for
 * cancelled invoices.
 *
 * @returns The number of documents issued.
 */
export async function issueDocuments(store: Store): Promise<number> {
  for (let issued = 0; ;) {
    if (!(await store.read(isPending))) return issued;
    const batch = await store.commit(({ db }) => issuePending(db));
    if (batch === 0) return issued;
    issued += batch;
  }
}

async function isPending(db: Db): Promise<boolean> {
  const [invoice] = await pending(db).limit(1).execute();
  return invoice !== undefined && (await readSeller(db)) !== undefined;
}

function pending(db: Db) {
  return db
    .selectFrom('invoices')
    .selectAll()
    .where('number', 'is', null)
    .where('status', 'not in', ['CANCELED', 'CLOSING'])
    .orderBy('period_end')
    .orderBy('id');
}

/**
 * Issues the documents of the earliest invoices that have none, up to a number that keeps the transaction short.
 *
 * @returns The number of documents issued.
 */
async function issuePending(db: Db): Promise<number> {
  const seller = await readSeller(db);
  if (!seller) return 0;
  // Locked before the query, so that another instance does not issue the same documents.
  await lockSeries(db, 'invoice');
  const invoices = await pending(db).limit(BATCH_SIZE).execute();
  for (const invoice of invoices) await issueInvoice(db, invoice, seller);
  for (const accountId of new Set(invoices.map(({ account_id }) => account_id))) await payWithBalance(db, accountId);
  return invoices.length;
}

/** Issues all pending documents. It locks the series, so a transaction calls it before it locks an account or an invoice. */
export async function issueAllPending(db: Db): Promise<void> {
  while ((await issuePending(db)) > 0);
}

/** Pays the new invoices of an account with its balance. The rest counts at the VAT rate of the start of the open period. */
async function payWithBalance(db: Db, accountId: string): Promise<void> {
  const { balance } = await db.selectFrom('accounts').select('balance').where('id', '=', accountId).executeTakeFirstOrThrow();
  if (balance === 0) return;
  const periodStart = await lockAccount(db, accountId);
  await payInvoices(db, accountId, periodStart * 1000);
}

async function issueInvoice(db: Db, invoice: Invoice, seller: Seller): Promise<void> {
  const { buyer, reverseCharge } = await buyerOf(db, invoice.account_id);
  // A period is taxed at the VAT rate of its last millisecond.
  const basisPoints = await vatRateAt(db, invoice.period_end * 1000 - 1, reverseCharge);
  const due = invoice.created + seller.payment_days * MS_PER_DAY;
  const number = await takeNumber(db, 'invoice');
  const net = BigInt(invoice.total);
  const vat = vatOn(net, basisPoints);
  const content: DocumentContent = {
    kind: 'invoice',
    number,
    date: dayOf(invoice.created / 1000),
    due: dayOf(due / 1000),
    seller,
    buyer,
    period: periodDays(invoice),
    corrects: null,
    groups: await groupsOf(db, invoice),
    ...sums({ net, vat, basisPoints }),
    reverseCharge,
  };
  await insertDocument(db, {
    id: invoice.id,
    invoice,
    content,
    name: null,
    amounts: { net, vat, basisPoints },
    issued: invoice.created,
    due,
  });
  await db.updateTable('invoices').set({ number }).where('id', '=', invoice.id).execute();
}

/** A correction of an invoice. */
export interface Correction {
  readonly invoice: Invoice;
  /** Unique for the invoice. */
  readonly name: string;
  readonly amount: Money;
  readonly reason: string;
  /** Net total of the earlier credit notes of the invoice. */
  readonly credited: Money;
  /** Milliseconds. */
  readonly now: number;
}

/** Issues a credit note for an issued invoice, with the seller, the buyer and the VAT rate of the invoice. */
export async function issueCreditNote(db: Db, { ports }: Pick<Services, 'ports'>, correction: Correction): Promise<void> {
  const { invoice, name, amount, reason, credited, now } = correction;
  await lockSeries(db, 'credit_note');
  const issued = await documentOf(db, invoice.id);
  if (!issued) throw new Error(`The invoice ${invoice.id} has no document that a credit note could correct.`);
  const original = contentOf(issued);
  const number = await takeNumber(db, 'credit_note');
  const basisPoints = issued.vat_basis_points;
  // The VAT of all credit notes together is that of their sum, so that crediting a whole invoice credits exactly its VAT.
  const vat = vatOn(credited + amount, basisPoints) - vatOn(credited, basisPoints);
  const content: DocumentContent = {
    ...original,
    kind: 'credit_note',
    number,
    date: dayOf(now / 1000),
    due: null,
    corrects: { number: original.number, date: original.date, reason },
    groups: [
      {
        title: 'Correction',
        lines: [
          {
            title: reason,
            details: `Invoice ${original.number} of ${original.date}`,
            time: '',
            quantity: '1',
            unitPrice: decimalOf(amount),
            amount: decimalOf(amount),
          },
        ],
        total: decimalOf(amount),
      },
    ],
    ...sums({ net: amount, vat, basisPoints }),
  };
  const id = uuidv7({ msecs: now, random: ports.random.bytes(16) });
  await insertDocument(db, { id, invoice, content, name, amounts: { net: amount, vat, basisPoints }, issued: now, due: null });
}

/** The document with an identifier, if it is issued. */
export function documentOf(db: Db, id: string): Promise<Selectable<IssuedDocumentsTable> | undefined> {
  return db.selectFrom('issued_documents').selectAll().where('id', '=', id).executeTakeFirst();
}

export function contentOf({ content }: Pick<IssuedDocumentsTable, 'content'>): DocumentContent {
  const parsed: DocumentContent = JSON.parse(content);
  return parsed;
}

interface Amounts {
  readonly net: Money;
  readonly vat: Money;
  readonly basisPoints: number;
}

function sums({ net, vat, basisPoints }: Amounts): Pick<DocumentContent, 'net' | 'vat' | 'gross'> {
  return { net: decimalOf(net), vat: { basisPoints, amount: decimalOf(vat) }, gross: decimalOf(net + vat) };
}

interface NewDocument {
  readonly id: string;
  readonly invoice: Invoice;
  readonly content: DocumentContent;
  readonly name: string | null;
  readonly amounts: Amounts;
  readonly issued: number;
  readonly due: number | null;
}

async function insertDocument(db: Db, { id, invoice, content, name, amounts, issued, due }: NewDocument): Promise<void> {
  await db
    .insertInto('issued_documents')
    .values({
      id,
      account_id: invoice.account_id,
      invoice_id: invoice.id,
      kind: content.kind,
      name,
      number: content.number,
      net: Number(amounts.net),
      vat: Number(amounts.vat),
      vat_basis_points: amounts.basisPoints,
      reason: content.corrects?.reason ?? null,
      issued,
      due,
      content: JSON.stringify(content),
    })
    .execute();
}

async function buyerOf(db: Db, accountId: string): Promise<{ buyer: Buyer; reverseCharge: boolean }> {
  const profile = await readBillingProfile(db, accountId);
  if (profile) {
    const { reverse_charge: reverseCharge, ...buyer } = profile;
    return { buyer, reverseCharge };
  }
  const { name } = await db.selectFrom('accounts').select('name').where('id', '=', accountId).executeTakeFirstOrThrow();
  return { buyer: { company: name }, reverseCharge: false };
}

function periodDays({ period_start, period_end }: Invoice): DocumentContent['period'] {
  return { first: dayOf(period_start), last: dayOf(period_end - 1) };
}
