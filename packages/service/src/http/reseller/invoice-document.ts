import { Readable } from 'node:stream';

import type { FastifyInstance } from 'fastify';

import { createDocumentRenderer } from '../../core/accounting/invoice-document/renderer.ts';
import { documentXml, storedDocumentFiles } from '../../core/accounting/invoice-document/stored.ts';
import type { Runtime } from '../../delivery/runtime.ts';
import { DOCUMENTS_PATH, isSignatureOf } from '../../rules/document-link.ts';
import type { DocumentFormat } from '../../rules/document-link.ts';
import { Refusal } from '../../rules/refusal.ts';
import { partsInTurns } from '../../store/turns.ts';

const EXPIRES = /^[1-9]\d{0,11}$/;

const TYPES: Readonly<Record<DocumentFormat, string>> = { pdf: 'application/pdf', xml: 'application/xml' };

/**
 * Serves each invoice and credit note as a PDF (specification: "Invoice", `invoice`) and as XML. The specification does not show its address, so the
 * document has no operation for it. The signature in the link replaces the API key.
 */
export function serveInvoiceDocuments(app: FastifyInstance, runtime: Runtime): void {
  const renderer = createDocumentRenderer();
  const filesOf = { pdf: storedDocumentFiles(runtime.store, renderer), xml: documentXml(runtime.store, renderer) };
  app.addHook('onClose', () => renderer.close());
  app.route<{ Params: { file: string }; Querystring: Readonly<Record<string, unknown>> }>({
    method: 'GET',
    url: `${DOCUMENTS_PATH}/:file`,
    async handler({ params, query }, reply) {
      const { id: documentId, format } = documentIn(params.file);
      const { signature, expires } = query;
      // Checked first, so that the response does not reveal whether an invoice exists.
      const isSigned =
        typeof signature === 'string' &&
        typeof expires === 'string' &&
        EXPIRES.test(expires) &&
        isSignatureOf(signature, { documentId, expires: Number(expires) }, runtime);
      if (!isSigned) throw unknownDocument();
      if (Number(expires) * 1000 <= runtime.ports.clock.now())
        throw new Refusal(404, 'not_found', 'This link to an invoice document has expired. Get a new one with GET /accounting/invoices.');
      const file = await filesOf[format](documentId);
      if (!file) throw unknownDocument();
      return reply
        .type(TYPES[format])
        .header('content-disposition', `inline; filename="${file.number.replaceAll('/', '-')}.${format}"`)
        .header('cache-control', 'private, no-store')
        .header('referrer-policy', 'no-referrer')
        .header('x-content-type-options', 'nosniff')
        .send(Readable.from(partsInTurns(file.parts)));
    },
  });
}

/** The document and the format that a file name such as `0193a8c2.pdf` asks for. */
function documentIn(file: string): { readonly id: string; readonly format: DocumentFormat } {
  const format = file.endsWith('.xml') ? 'xml' : 'pdf';
  return { id: file.endsWith(`.${format}`) ? file.slice(0, -`.${format}`.length) : '', format };
}

function unknownDocument(): Refusal {
  return new Refusal(404, 'not_found', 'There is no such invoice document. Open the link exactly as GET /accounting/invoices returns it.');
}
