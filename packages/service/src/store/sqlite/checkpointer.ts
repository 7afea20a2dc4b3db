import { once } from 'node:events';
import type { DatabaseSync } from 'node:sqlite';
import { Worker } from 'node:worker_threads';

import type { Tuning } from '../tuning.ts';

/** Without a thread, SQLite copies the log itself at this length, and the event loop waits: 64 MiB. */
const UNATTENDED_PAGES = 16_384;
/** The pause after a checkpoint that left pages in the log, because the disk was full or a backup was reading them. */
const RETRY_MS = 1_000;

/** Keeps the write-ahead log short, in a worker thread. */
export interface Checkpointer {
  /**
   * Starts a checkpoint if the log is long. Call it between transactions.
   *
   * @returns A promise if the next transaction must wait until the log has room.
   */
  makeRoom(): Promise<void> | undefined;
  /** Waits for the checkpoint that is in progress, and ends the thread. */
  close(): Promise<void>;
}

/**
 * A checkpoint has two steps. The first copies most of the log while transactions continue. In the second, which is short, they wait while
 * the rest is copied. After that, no part of the log is needed, and SQLite overwrites it from the beginning.
 *
 * @param connection The connection that writes.
 * @param startThread Starts the thread. It copies the log at each message, and responds with a message.
 */
export function createCheckpointer(connection: DatabaseSync, tuning: Tuning, startThread: () => Worker): Checkpointer {
  connection.exec(`PRAGMA wal_autocheckpoint = ${UNATTENDED_PAGES}`);
  const logState = connection.prepare('PRAGMA wal_checkpoint(NOOP)');
  let thread: { readonly worker: Worker; readonly ended: AbortSignal } | undefined;
  let running: Promise<void> | undefined;
  let isFinishing = false;
  let notBefore = 0;
  let calls = 0;

  function beginThread() {
    const worker = startThread();
    const ended = new AbortController();
    worker.once('exit', () => ended.abort());
    return { worker, ended: ended.signal };
  }

  async function copy(): Promise<void> {
    const { worker, ended } = (thread ??= beginThread());
    // It rejects if the thread fails.
    const copied = once(worker, 'message', { signal: ended });
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker thread has no origin
    worker.postMessage('copy');
    await copied;
  }

  async function checkpoint(): Promise<void> {
    try {
      await copy();
      isFinishing = true;
      await copy();
    } catch {
      await endThread();
    } finally {
      isFinishing = false;
      running = undefined;
      if (pages().uncopied > 0) notBefore = performance.now() + RETRY_MS;
    }
  }

  function pages(): { readonly inLog: number; readonly uncopied: number } {
    const { log, checkpointed } = logState.get() ?? {};
    return { inLog: Number(log), uncopied: Number(log) - Number(checkpointed) };
  }

  async function endThread(): Promise<void> {
    await thread?.worker.terminate();
    thread = undefined;
  }

  return {
    makeRoom() {
      if (isFinishing) return running;
      if (!connection.isOpen || ++calls % tuning.checkpointCheck > 0) return undefined;
      const { inLog, uncopied } = pages();
      if (inLog >= tuning.checkpointPages && uncopied > 0 && performance.now() >= notBefore) running ??= checkpoint();
      return inLog >= tuning.maxLogPages ? running : undefined;
    },
    async close() {
      await running;
      await endThread();
    },
  };
}

/** @param file The database. */
export function startCheckpointThread(file: string): Worker {
  // In a production installation, the worker is a JavaScript file.
  const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  const worker = new Worker(new URL(`./checkpoint-worker.${extension}`, import.meta.url), { execArgv: [], workerData: file });
  // An idle thread does not keep the process running.
  worker.unref();
  // Without a listener, an error between two checkpoints would end the process.
  worker.on('error', () => {});
  return worker;
}
