/** The worker thread that writes the files of documents, so that writing them does not block the event loop. It sends the file, or why it cannot. */
import { parentPort } from 'node:worker_threads';

import { toCii } from './cii.ts';
import type { DocumentContent } from './content.ts';
import { FontsNotInstalled } from './font-files.ts';
import { renderDocument } from './pdf.ts';
import type { WantedFile } from './renderer.ts';
import { contentOf } from './stored-content.ts';

parentPort?.on('message', async ({ content, format, logo }: WantedFile) => {
  try {
    const file = await fileOf(await contentOf(content), format, logo);
    parentPort?.postMessage(file, file ? [file.buffer] : []);
  } catch (error) {
    if (!(error instanceof FontsNotInstalled)) throw error;
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker thread has no origin
    parentPort?.postMessage(error.message);
  }
});

async function fileOf(content: DocumentContent, format: WantedFile['format'], logo: WantedFile['logo']) {
  if (format === 'pdf') return new Uint8Array(await renderDocument(content, logo));
  const xml = toCii(content);
  return xml === undefined ? undefined : new TextEncoder().encode(xml);
}
