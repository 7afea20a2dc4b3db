import type { AccountingDocument } from '@reseller/client/extension';
import type { Selectable } from 'kysely';

import { grossLeft } from '../../core/accounting/debt.ts';
import { linkTo } from '../../core/accounting/invoice.ts';
import { counted } from '../../rules/counted.ts';
import { numberOf } from '../../rules/money.ts';
import type { Money } from '../../rules/money.ts';
import type { IssuedDocumentsTable } from '../../store/tables/issued-documents.ts';
import type { ReadOperation } from '../operation.ts';

/** GET /accounting/documents: the invoices and credit notes of the account as they were issued, newest first. */
export const listDocuments: ReadOperation<'listDocuments'> = {
  kind: 'read',
  settles: true,
  isLong: true,
  async run(db, { accountId, runtime }) {
    const documents = await db
      .selectFrom('issued_documents')
      .innerJoin('invoices', 'invoices.id', 'issued_documents.invoice_id')
      .selectAll('issued_documents')
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
      return { unpaid, shown: { ...toDocument(document), unpaid: numberOf(unpaid), document: linkTo(document.id, runtime) } };
    });
    return {
      message: `${counted(list.length, 'document')}.`,
      data: { unpaid: numberOf(list.reduce((sum, { unpaid }) => sum + unpaid, 0n)), list: list.map(({ shown }) => shown) },
    };
  },
};

function toDocument(document: Selectable<IssuedDocumentsTable>): Omit<AccountingDocument, 'unpaid' | 'document'> {
  const net = numberOf(BigInt(document.net));
  return {
    kind: document.kind,
    number: document.number,
    invoiceID: document.invoice_id,
    date: new Date(document.issued).toISOString(),
    dueDate: document.due === null ? null : new Date(document.due).toISOString(),
    reason: document.reason,
    net,
    vat: [{ rate: document.vat_basis_points / 100, net, amount: numberOf(BigInt(document.vat)) }],
    gross: numberOf(grossOf(document)),
  };
}

function grossOf({ net, vat }: Pick<IssuedDocumentsTable, 'net' | 'vat'>): Money {
  return BigInt(net) + BigInt(vat);
}
