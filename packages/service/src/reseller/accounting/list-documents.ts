import type { AccountingDocument } from '@reseller/client/extension';
import type { Selectable } from 'kysely';

import { grossLeft, grossOfDocument } from '../../core/accounting/debt.ts';
import { vatSumsOf } from '../../core/accounting/invoice-document/issue.ts';
import { linkTo } from '../../core/accounting/invoice.ts';
import { counted } from '../../rules/counted.ts';
import { toInstant, toInstantOrNull } from '../../rules/instants.ts';
import { numberOf } from '../../rules/money.ts';
import type { IssuedDocumentsTable } from '../../store/tables/accounting.ts';
import type { ReadOperation } from '../operation.ts';

const COLUMNS = ['id', 'invoice_id', 'kind', 'number', 'issued', 'due', 'reason', 'net', 'vat', 'vat_by_rate'] as const;
type ListedDocument = Pick<Selectable<IssuedDocumentsTable>, (typeof COLUMNS)[number]>;

/** GET /accounting/documents: the invoices and credit notes of the account as they were issued, newest first. */
export const listDocuments: ReadOperation<'listDocuments'> = {
  kind: 'read',
  settles: true,
  isLong: true,
  async run(db, { accountId, runtime }) {
    const documents = await db
      .selectFrom('issued_documents')
      .innerJoin('invoices', 'invoices.id', 'issued_documents.invoice_id')
      // Without the contents and the files, which are large.
      .select(COLUMNS.map((column) => `issued_documents.${column}` as const))
      .select(['invoices.status', 'invoices.paid'])
      .where('issued_documents.account_id', '=', accountId)
      .orderBy('issued', 'desc')
      // A credit note is newer than an invoice of the same instant.
      .orderBy('kind')
      .orderBy('issued_documents.number', 'desc')
      .execute();
    const ofInvoice = Map.groupBy(documents, ({ invoice_id }) => invoice_id);
    const list = documents.map((document) => {
      const isOpen = document.kind === 'invoice' && document.status === 'OPEN';
      const unpaid = isOpen ? grossLeft(ofInvoice.get(document.invoice_id) ?? []) - BigInt(document.paid) : 0n;
      return {
        unpaid,
        shown: {
          ...toDocument(document),
          unpaid: numberOf(unpaid),
          document: linkTo(document.id, runtime),
          xml: linkTo(document.id, runtime, 'xml'),
        },
      };
    });
    return {
      message: `${counted(list.length, 'document')}.`,
      data: { unpaid: numberOf(list.reduce((sum, { unpaid }) => sum + unpaid, 0n)), list: list.map(({ shown }) => shown) },
    };
  },
};

function toDocument(document: ListedDocument): Omit<AccountingDocument, 'unpaid' | 'document' | 'xml'> {
  return {
    kind: document.kind,
    number: document.number,
    invoiceID: document.invoice_id,
    date: toInstant(document.issued),
    dueDate: toInstantOrNull(document.due),
    reason: document.reason,
    net: numberOf(BigInt(document.net)),
    vat: vatSumsOf(document).map(({ basisPoints, net, vat }) => ({ rate: basisPoints / 100, net: numberOf(net), amount: numberOf(vat) })),
    gross: numberOf(grossOfDocument(document)),
  };
}
