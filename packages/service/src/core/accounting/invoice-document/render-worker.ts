/** The worker thread that renders documents, so that the event loop of the service goes on. */
import { parentPort } from 'node:worker_threads';

import type { DocumentContent } from './content.ts';
import { renderDocument } from './pdf.ts';

parentPort?.on('message', async (content: DocumentContent) => {
  const pdf = new Uint8Array(await renderDocument(content));
  parentPort?.postMessage(pdf, [pdf.buffer]);
});
