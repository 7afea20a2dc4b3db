/** The worker thread that renders documents, so that rendering does not block the event loop. */
import { parentPort } from 'node:worker_threads';

import type { DocumentContent } from './content.ts';
import { renderDocument } from './pdf.ts';

parentPort?.on('message', async ({ content, logo }: { readonly content: DocumentContent; readonly logo?: Uint8Array }) => {
  const pdf = new Uint8Array(await renderDocument(content, logo));
  parentPort?.postMessage(pdf, [pdf.buffer]);
});
