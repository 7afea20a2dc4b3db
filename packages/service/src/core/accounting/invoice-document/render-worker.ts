/** The worker thread that renders invoices, so that the event loop of the service goes on. */
import { parentPort } from 'node:worker_threads';

import type { InvoiceContent } from './content.ts';
import { renderInvoice } from './pdf.ts';

parentPort?.on('message', async (content: InvoiceContent) => {
  const pdf = new Uint8Array(await renderInvoice(content));
  parentPort?.postMessage(pdf, [pdf.buffer]);
});
