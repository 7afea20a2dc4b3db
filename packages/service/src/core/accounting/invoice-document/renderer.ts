import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

import { Refusal } from '../../../rules/refusal.ts';
import { lineCountOf } from './stored-content.ts';
import type { StoredContent } from './stored-content.ts';

/** Maximum number of documents that wait while another one is rendered. */
const MAX_WAITING = 20;
const RENDER_TIMEOUT_MS = 30_000;
/** On a busy machine, a line takes about 2 ms. */
const RENDER_TIMEOUT_OF_LINE_MS = 10;
/** Longer documents wait for each other, and not the others for them. */
const LONG_LINES = 1_000;
const MAX_IDLE_WORKERS = 2;

/** The threads of closed renderers, for the next one. A new thread loads its modules and fonts for a second. */
const idleWorkers: Worker[] = [];

/** Writes the files of short documents one after another in a worker thread, and those of long ones in another. */
export interface DocumentRenderer {
  /**
   * Draws the PDF.
   *
   * @throws Refusal 503 if too many documents wait already, or if the fonts of some letters are not installed.
   */
  render(content: StoredContent, logo?: Uint8Array): Promise<Uint8Array>;
  /**
   * Writes the XML. Undefined for a buyer without an address.
   *
   * @throws Refusal 503 if too many documents wait already.
   */
  writeXml(content: StoredContent): Promise<Uint8Array | undefined>;
  /** Ends what is being written. */
  close(): Promise<void>;
}

/** What a thread writes. */
export interface WantedFile {
  readonly content: StoredContent;
  readonly format: 'pdf' | 'xml';
  readonly logo: Uint8Array | undefined;
}

export function createDocumentRenderer(maxWaiting = MAX_WAITING): DocumentRenderer {
  const [short, long] = [createThread(maxWaiting), createThread(maxWaiting)];
  function threadFor(content: StoredContent): WritingThread {
    return lineCountOf(content) > LONG_LINES ? long : short;
  }
  return {
    async render(content, logo) {
      const pdf = await threadFor(content).write({ content, format: 'pdf', logo });
      if (!pdf) throw new TypeError('The renderer returned something other than a document.');
      return pdf;
    },
    writeXml: (content) => threadFor(content).write({ content, format: 'xml', logo: undefined }),
    async close() {
      await Promise.all([short.close(), long.close()]);
    },
  };
}

/** Writes one file after another. */
interface WritingThread {
  write(wanted: WantedFile): Promise<Uint8Array | undefined>;
  close(): Promise<void>;
}

function createThread(maxWaiting: number): WritingThread {
  let worker: Worker | undefined;
  let last: Promise<unknown> = Promise.resolve();
  let waiting = 0;

  async function writeNow(wanted: WantedFile): Promise<unknown> {
    worker ??= idleWorkers.pop() ?? startWorker();
    const timeoutMs = RENDER_TIMEOUT_MS + lineCountOf(wanted.content) * RENDER_TIMEOUT_OF_LINE_MS;
    try {
      // `once` rejects if the thread fails.
      const written = once(worker, 'message', { signal: AbortSignal.timeout(timeoutMs) });
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker thread has no origin
      worker.postMessage(wanted);
      const [file]: unknown[] = await written;
      return file;
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
    async write(wanted) {
      if (waiting > maxWaiting)
        throw new Refusal(503, 'unavailable', 'Too many invoice documents are being rendered. Open the link again in a few seconds.');
      waiting++;
      const written = last.then(() => writeNow(wanted));
      last = written.catch(() => undefined);
      try {
        const file = await written;
        if (typeof file === 'string') throw new Refusal(503, 'unavailable', file);
        return file instanceof Uint8Array ? file : undefined;
      } finally {
        waiting--;
      }
    },
    async close() {
      if (worker === undefined || waiting > 0 || idleWorkers.length === MAX_IDLE_WORKERS) return endWorker();
      idleWorkers.push(worker);
      worker = undefined;
    },
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
