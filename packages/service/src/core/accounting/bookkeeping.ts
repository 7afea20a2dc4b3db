/** Documents and payments as CSV for bookkeeping (not shown in the specification; our choice). */
import type { Selectable } from 'kysely';

import { csvRow } from '../../rules/csv.ts';
import { dayIn } from '../../rules/day.ts';
import { decimalOf, euros } from '../../rules/money.ts';
import { readTimeZone } from '../../store/settings.ts';
import type { Db, Store } from '../../store/store.ts';
import type { IssuedDocumentsTable } from '../../store/tables/accounting.ts';
import { tuningOf } from '../../store/tuning.ts';
import { contentOf, headOf, storedContentOf } from './invoice-document/stored-content.ts';
import type { DocumentHead, StoredContent } from './invoice-document/stored-content.ts';

/** From the first instant to the last one, in milliseconds. */
export interface TimeRange {
  readonly from: number;
  readonly to: number;
}

export type BookkeepingTable = 'invoices' | 'credit_notes' | 'lines' | 'payments';

const BUYER_COLUMNS = ['account_id', 'buyer', 'buyer_country', 'buyer_vat_id', 'reverse_charge'];
const AMOUNT_COLUMNS = ['vat_percent', 'net', 'vat', 'gross', 'document_gross'];

const COLUMNS: Readonly<Record<BookkeepingTable, readonly string[]>> = {
  invoices: ['number', 'date', 'due', ...BUYER_COLUMNS, 'status', ...AMOUNT_COLUMNS, 'paid'],
  credit_notes: ['number', 'date', 'corrects', 'reason', ...BUYER_COLUMNS, ...AMOUNT_COLUMNS],
  lines: [
    'number',
    'date',
    'line',
    'group',
    'title',
    'details',
    'first_day',
    'last_day',
    'quantity',
    'unit',
    'price',
    'price_quantity',
    'vat_percent',
    'net',
  ],
  payments: ['recorded', 'kind', 'account_id', 'name', 'date', 'method', 'reference', 'amount', 'unused', 'pays', 'reversed'],
};

/** The table as parts of a text, so that a long one is never in memory as a whole. */
export async function* bookkeepingCsv(store: Store, table: BookkeepingTable, range: TimeRange): AsyncGenerator<string> {
  yield csvRow(COLUMNS[table]);
  const pageAfter = table === 'payments' ? paymentsAfter : documentsAfter(table);
  for (let after: Place | undefined = { at: range.from, id: '' }; after !== undefined;) {
    const place: Place = after;
    const page = await store.read((db) => pageAfter(db, place, range.to));
    yield page.text;
    after = page.next;
  }
}

/** Where the next page begins: after a row. */
interface Place {
  readonly at: number;
  readonly id: string;
}

interface CsvPage {
  readonly text: string;
  /** Undefined after the last page. */
  readonly next: Place | undefined;
}

/** The PDF of a long document takes megabytes, and no row needs it. */
const BOOKED_COLUMNS = ['id', 'account_id', 'kind', 'issued', 'content'] as const;
type BookedDocument = Pick<Selectable<IssuedDocumentsTable>, (typeof BOOKED_COLUMNS)[number]> & {
  readonly status: string;
  readonly paid: number;
};

type RowsOfDocument = (document: BookedDocument, stored: StoredContent) => Promise<readonly string[]>;

/** Only the table of lines reads lines, which are many in a long document. */
const rowsOf: Readonly<Record<Exclude<BookkeepingTable, 'payments'>, RowsOfDocument>> = {
  invoices: async (document, stored) =>
    document.kind === 'invoice'
      ? rateRows(document, headOf(stored), {
          first: [stored.due],
          afterBuyer: [document.status],
          last: [decimalOf(BigInt(document.paid))],
        })
      : [],
  credit_notes: async (document, stored) =>
    document.kind === 'credit_note'
      ? rateRows(document, headOf(stored), {
          first: [stored.corrects?.number ?? '', stored.corrects?.reason ?? ''],
          afterBuyer: [],
          last: [],
        })
      : [],
  async lines(_, stored) {
    const { number, date, groups } = await contentOf(stored);
    return groups
      .flatMap(({ title, lines }) => lines.map((line) => ({ group: title, ...line })))
      .map(({ group, title, details, measured, amount, basisPoints }, index) =>
        csvRow([
          number,
          date,
          index + 1,
          group,
          title,
          details,
          measured?.first ?? null,
          measured?.last ?? null,
          measured?.quantity ?? 1,
          measured?.unit ?? 'piece',
          measured?.price ?? amount,
          measured?.priceQuantity ?? 1,
          basisPoints / 100,
          amount,
        ]),
      );
  },
};

function documentsAfter(table: Exclude<BookkeepingTable, 'payments'>) {
  return async (db: Db, { at, id }: Place, to: number): Promise<CsvPage> => {
    const documents = await db
      .selectFrom('issued_documents')
      .innerJoin('invoices', 'invoices.id', 'issued_documents.invoice_id')
      .select(BOOKED_COLUMNS.map((column) => `issued_documents.${column}` as const))
      .select(['invoices.status', 'invoices.paid'])
      .where(({ eb, and, or }) =>
        or([eb('issued_documents.issued', '>', at), and([eb('issued_documents.issued', '=', at), eb('issued_documents.id', '>', id)])]),
      )
      .where('issued_documents.issued', '<=', to)
      .orderBy('issued_documents.issued')
      .orderBy('issued_documents.id')
      .limit(tuningOf(db).bookkeepingPage)
      .execute();
    const last = documents.length < tuningOf(db).bookkeepingPage ? undefined : documents.at(-1);
    const texts: string[] = [];
    for (const document of documents) texts.push((await rowsOf[table](document, storedContentOf(document))).join(''));
    return {
      text: texts.join(''),
      next: last && { at: last.issued, id: last.id },
    };
  };
}

type CsvFields = readonly (string | number | null)[];

function buyerOf({ account_id }: BookedDocument, { buyer }: DocumentHead): CsvFields {
  const party = 'street' in buyer ? buyer : { ...buyer, country: null, vat_id: null };
  return [account_id, party.company, party.country, party.vat_id];
}

/** A row for each VAT rate of a document. */
function rateRows(
  document: BookedDocument,
  content: DocumentHead,
  { first, afterBuyer, last }: { first: CsvFields; afterBuyer: CsvFields; last: CsvFields },
): string[] {
  const before = [content.number, content.date, ...first, ...buyerOf(document, content)];
  return content.vat.map(({ basisPoints, reverseCharge = false, net, amount }, index) => {
    const gross = decimalOf(euros(net) + euros(amount));
    const treatment = [reverseCharge ? 'yes' : 'no', ...afterBuyer, basisPoints / 100];
    return csvRow([...before, ...treatment, net, amount, gross, content.gross, ...(index === 0 ? last : last.map(() => null))]);
  });
}

async function paymentsAfter(db: Db, { at, id }: Place, to: number): Promise<CsvPage> {
  const timeZone = await readTimeZone(db);
  const payments = await db
    .selectFrom('payments')
    .selectAll()
    .where(({ eb, and, or }) => or([eb('created', '>', at), and([eb('created', '=', at), eb('id', '>', id)])]))
    .where('created', '<=', to)
    .orderBy('created')
    .orderBy('id')
    .limit(tuningOf(db).bookkeepingPage)
    .execute();
  const ids = payments.map((payment) => payment.id);
  const uses = await db
    .selectFrom('payment_uses')
    .innerJoin('invoices', 'invoices.id', 'payment_uses.used_for')
    .select(['payment_id', 'number', 'amount'])
    .where('payment_id', 'in', ids)
    .orderBy('number')
    .execute();
  const rows = payments.map((one) => {
    const pays = uses
      .filter(({ payment_id }) => payment_id === one.id)
      .map(({ number, amount }) => `${number} ${decimalOf(BigInt(amount))}`);
    return csvRow([
      dayIn(timeZone, one.created),
      one.kind,
      one.account_id,
      one.name,
      one.date,
      one.method,
      one.reference,
      decimalOf(BigInt(one.amount)),
      decimalOf(BigInt(one.unused)),
      pays.join(' '),
      one.reversed === null ? null : dayIn(timeZone, one.reversed),
    ]);
  });
  const last = payments.length < tuningOf(db).bookkeepingPage ? undefined : payments.at(-1);
  return { text: rows.join(''), next: last && { at: last.created, id: last.id } };
}
