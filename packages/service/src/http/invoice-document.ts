import type { FastifyInstance } from 'fastify';

import type { Runtime } from '../delivery/runtime.ts';
import { contentOf, documentOf, issueDocuments } from '../core/accounting/invoice-document/issue.ts';
import { renderDocument } from '../core/accounting/invoice-document/pdf.ts';
import type { Store } from '../store/store.ts';
import { Refusal } from '../rules/refusal.ts';
import { DOCUMENTS_PATH, isSignatureOf } from '../rules/document-link.ts';

/**
 * Serves each invoice and credit note as a PDF (specification: "Invoice", `invoice`). The specification does not show its address, so the document
 * has no operation for it. The signature in the link replaces the API key.
 */
export function serveInvoiceDocuments(app: FastifyInstance, { store, secret }: Runtime): void {
  app.route<{ Params: { file: string }; Querystring: Readonly<Record<string, unknown>> }>({
    method: 'GET',
    url: `${DOCUMENTS_PATH}/:file`,
    async handler({ params, query }, reply) {
      const documentId = params.file.endsWith('.pdf') ? params.file.slice(0, -'.pdf'.length) : '';
      const { signature } = query;
      // Checked first, so that the response does not reveal whether an invoice exists.
      const signed = typeof signature === 'string' && isSignatureOf(signature, documentId, secret);
      const document = signed ? await issuedDocument(store, documentId) : undefined;
      if (!document)
        throw new Refusal(
          404,
          'not_found',
          'There is no such invoice document. Open the link exactly as GET /accounting/invoices returns it; a new document is issued within a minute.',
        );
      return reply
        .type('application/pdf')
        .header('content-disposition', `inline; filename="${document.number.replaceAll('/', '-')}.pdf"`)
        .header('cache-control', 'private, no-store')
        .header('referrer-policy', 'no-referrer')
        .header('x-content-type-options', 'nosniff')
        .send(await renderDocument(contentOf(document)));
    },
  });
}

/** An invoice may be opened before the scheduled jobs have issued its document. */
async function issuedDocument(store: Store, id: string) {
  const issued = await store.read((db) => documentOf(db, id));
  if (issued) return issued;
  await issueDocuments(store);
  return store.read((db) => documentOf(db, id));
}
