import type { FastifyInstance } from 'fastify';

import type { Runtime } from '../delivery/runtime.ts';
import { invoiceContent } from '../core/accounting/invoice-document/content.ts';
import { renderInvoice } from '../core/accounting/invoice-document/pdf.ts';
import { Refusal } from '../rules/refusal.ts';
import { DOCUMENTS_PATH, isSignatureOf } from '../rules/document-link.ts';

/**
 * Serves each invoice as a PDF (specification: "Invoice", `invoice`). The specification does not show its address, so the document
 * has no operation for it. The signature in the link replaces the API key.
 */
export function serveInvoiceDocuments(app: FastifyInstance, { store, secret, previousSecret }: Runtime): void {
  app.route<{ Params: { file: string }; Querystring: Readonly<Record<string, unknown>> }>({
    method: 'GET',
    url: `${DOCUMENTS_PATH}/:file`,
    async handler({ params, query }, reply) {
      const invoiceId = params.file.endsWith('.pdf') ? params.file.slice(0, -'.pdf'.length) : '';
      const { signature } = query;
      // Checked first, so that the response does not reveal whether an invoice exists.
      const signed = typeof signature === 'string' && isSignatureOf(signature, invoiceId, { secret, previousSecret });
      const content = signed ? await store.read((db) => invoiceContent(db, invoiceId)) : undefined;
      if (!content)
        throw new Refusal(
          404,
          'not_found',
          'There is no such invoice document. Open the link exactly as GET /accounting/invoices returns it.',
        );
      return reply
        .type('application/pdf')
        .header('content-disposition', `inline; filename="invoice-${invoiceId}.pdf"`)
        .header('cache-control', 'private, no-store')
        .header('referrer-policy', 'no-referrer')
        .header('x-content-type-options', 'nosniff')
        .send(await renderInvoice(content));
    },
  });
}
