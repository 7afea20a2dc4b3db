import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

import { Refusal } from '../../../rules/refusal.ts';
import type { DocumentContent } from './content.ts';

/** Maximum number of documents that wait while another one is rendered. */
const MAX_WAITING = 20;
const RENDER_TIMEOUT_MS = 30_000;
/** On a busy machine, a line takes about 2 ms. */
const RENDER_TIMEOUT_OF_LINE_MS = 10;
/** Longer documents wait for each other, and not the others for them. */
const LONG_LINES = 1_000;

/** Renders short documents one after another in a worker thread, and long ones in another. */
export interface DocumentRenderer {
  /** @throws Refusal 503 if too many documents wait already. */
  render(content: DocumentContent, logo?: Uint8Array): Promise<Uint8Array>;
  /** Ends the thread. */
  close(): Promise<void>;
}

export function createDocumentRenderer(maxWaiting = MAX_WAITING): DocumentRenderer {
  const [short, long] = [threadRenderer(maxWaiting), threadRenderer(maxWaiting)];
  return {
    render: (content, logo) => (lengthOf(content) > LONG_LINES ? long : short).render(content, logo),
    async close() {
      await Promise.all([short.close(), long.close()]);
    },
  };
}

function lengthOf({ groups }: DocumentContent): number {
  return groups.reduce((sum, { lines }) => sum + lines.length, 0);
}

function threadRenderer(maxWaiting: number): DocumentRenderer {
  let worker: Worker | undefined;
  let last: Promise<unknown> = Promise.resolve();
  let waiting = 0;

  async function renderNow(content: DocumentContent, logo: Uint8Array | undefined): Promise<Uint8Array> {
    worker ??= startWorker();
    const timeoutMs = RENDER_TIMEOUT_MS + lengthOf(content) * RENDER_TIMEOUT_OF_LINE_MS;
    try {
      // `once` rejects if the thread fails.
      const rendered = once(worker, 'message', { signal: AbortSignal.timeout(timeoutMs) });
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker thread has no origin
      worker.postMessage({ content, logo });
      const [pdf]: unknown[] = await rendered;
      if (!(pdf instanceof Uint8Array)) throw new TypeError('The renderer returned something other than a document.');
      return pdf;
    } catch (error) {
      // The next document gets a new thread.
      await endWorker();
      throw error;
    }
  }

  async function endWorker(): Promise<void> {
    await worker?.terminate();
    worker = undefined;
  }

  return {
    async render(content, logo) {
      if (waiting > maxWaiting)
        throw new Refusal(503, 'unavailable', 'Too many invoice documents are being rendered. Open the link again in a few seconds.');
      waiting++;
      const rendered = last.then(() => renderNow(content, logo));
      last = rendered.catch(() => undefined);
      try {
        return await rendered;
      } finally {
        waiting--;
      }
    },
    close: endWorker,
  };
}

function startWorker(): Worker {
  // In a production installation, the worker is a JavaScript file.
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  const worker = new Worker(new URL(`./render-worker.${extension}`, import.meta.url), { execArgv: [] });
  // An idle thread does not keep the process running.
  worker.unref();
  // Without a listener, an error between two documents would end the process.
  worker.on('error', () => {});
  return worker;
}
