/**
 * The documents of invoices (specification: "Invoice", `invoice`). Their address is not shown, so
 * it is no operation of the document: the signature in the link takes the place of an API key.
 */
import type { FastifyInstance } from 'fastify';

import { invoiceContent } from '../core/accounting/invoice-document/content.ts';
import { renderInvoice } from '../core/accounting/invoice-document/pdf.ts';
import { Refusal } from '../rules/refusal.ts';
import { DOCUMENTS_PATH, isSignatureOf } from '../rules/document-link.ts';
import type { ServiceContext } from './application.ts';

/** The base of links to the service. A Host header could name any host, so it is never asked. */
export function publicUrlFrom({ publicUrl }: Pick<ServiceContext, 'publicUrl'>, app: FastifyInstance): string {
  if (publicUrl !== undefined) return publicUrl;
  // A service that is asked in memory alone listens nowhere.
  if (app.addresses().length === 0) return 'http://localhost';
  // A service that listens on every address of the machine is reached at this one, not at 0.0.0.0.
  return app.listeningOrigin.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:');
}

/** Serves each invoice as a PDF to whoever has its link. */
export function serveInvoiceDocuments(app: FastifyInstance, { store, secret }: ServiceContext): void {
  app.route<{ Params: { file: string }; Querystring: Readonly<Record<string, unknown>> }>({
    method: 'GET',
    url: `${DOCUMENTS_PATH}/:file`,
    async handler({ params, query }, reply) {
      const invoiceId = params.file.endsWith('.pdf') ? params.file.slice(0, -'.pdf'.length) : '';
      const { signature } = query;
      // Judged before the store is asked: nothing tells whether an invoice exists.
      const signed = typeof signature === 'string' && isSignatureOf(signature, invoiceId, secret);
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
