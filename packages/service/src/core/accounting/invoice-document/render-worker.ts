/** The worker thread that writes the files of documents, so that writing them does not block the event loop. */
import { readlinkSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { basename } from 'node:path';
import { parentPort } from 'node:worker_threads';

import { toCii } from './cii.ts';
import type { DocumentContent } from './content.ts';
import { renderDocument } from './pdf.ts';
import type { WantedFile } from './renderer.ts';
import { contentOf } from './stored-content.ts';

giveWay();
parentPort?.on('message', async ({ content, format, logo }: WantedFile) => {
  const file = await fileOf(await contentOf(content), format, logo);
  parentPort?.postMessage(file, file ? [file.buffer] : []);
});

/** Gives this thread a low priority, so that requests do not wait for a long document where few cores are. Only Linux has priorities of threads. */
function giveWay(): void {
  if (process.platform !== 'linux') return;
  setPriority(Number(basename(readlinkSync('/proc/thread-self'))), constants.priority.PRIORITY_BELOW_NORMAL);
}

async function fileOf(content: DocumentContent, format: WantedFile['format'], logo: WantedFile['logo']) {
  if (format === 'pdf') return new Uint8Array(await renderDocument(content, logo));
  const xml = toCii(content);
  return xml === undefined ? undefined : new TextEncoder().encode(xml);
}
