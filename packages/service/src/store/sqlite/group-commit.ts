import type { DatabaseSync } from 'node:sqlite';

import type { LogEntry } from '../log-row.ts';
import { StoreUnavailableError } from '../store.ts';
import type { Db, RequestLog, Store, Transaction } from '../store.ts';
import { logWriter } from './request-log.ts';

/** Primary result codes of SQLite for an outage: busy, read-only, input/output error, full, cannot open. */
const UNAVAILABLE = new Set([5, 8, 10, 13, 14]);

/** After this time a batch commits, so that it does not block the event loop. The remaining transactions run in the next batch. */
const MAX_BATCH_MS = 5;

/** The shorter limit for a batch with entries of requests that only read, because their responses wait for its commit. */
const MAX_BATCH_WITH_ENTRIES_MS = 2;

/** A batch waits at most this long for transactions and log entries that are still arriving. */
const MAX_GATHER_MS = 5;

interface Waiting {
  /** Runs the work, and returns a function that resolves the caller's promise. */
  run(): Promise<() => void>;
  reject(error: unknown): void;
}

/** An entry of the request log whose transaction has not begun. */
interface WaitingEntry extends Committed {
  readonly entry: LogEntry;
}

/** Committed work whose caller waits until it is durable. */
interface Committed {
  resolve(): void;
  reject(error: unknown): void;
}

/** The disk under the connection. */
export interface Disk {
  sync(): Promise<void>;
  onFailedSync?(error: StoreUnavailableError): void;
  makeRoom?(): Promise<void> | undefined;
}

export type GroupCommit = Store['commit'] & {
  /** Appends an entry to the request log. It needs no savepoint, because a statement that fails changes nothing. */
  readonly appendToLog: RequestLog['append'];
  /** Resolves when no transaction is in progress. */
  idle(): Promise<void>;
};

/**
 * Group commit. Transactions run one after another. Those that arrive in successive iterations of the event loop share one SQLite
 * transaction, each in its own savepoint, so that a failing one does not affect the others. All transactions that were committed when a
 * `sync` starts share it, and further ones run meanwhile. Log entries alone wait until it has ended, so that more of them share the next
 * transaction. They would have to wait for the next `sync` in any case.
 *
 * The driver is synchronous, so a batch runs to its end within one iteration of the event loop. Its time is limited, so that other
 * requests do not wait for all transactions that arrived together.
 *
 * @param disk.sync Makes all earlier commits durable. After a failure the contents of the disk are unknown, so the store refuses all
 *   further transactions until it is opened again.
 * @param disk.onFailedSync Called after such a failure, before any caller learns of it.
 * @param disk.makeRoom Called before each batch, which waits for the returned promise.
 */
export function groupCommit(
  connection: DatabaseSync,
  db: Db,
  { sync, onFailedSync = () => {}, makeRoom = () => undefined }: Disk,
): GroupCommit {
  const transactions: Waiting[] = [];
  let waitingEntries: WaitingEntry[] = [];
  let flushing: Promise<void> | undefined;
  let committed: Committed[] = [];
  let syncing: Promise<void> | undefined;
  let broken: StoreUnavailableError | undefined;
  const begin = connection.prepare('BEGIN IMMEDIATE');
  const end = connection.prepare('COMMIT');
  const savepoint = connection.prepare('SAVEPOINT work');
  const release = connection.prepare('RELEASE work');
  const rollBack = connection.prepare('ROLLBACK TO work');
  const requestLog = logWriter(connection);

  async function runTransaction<T>(work: (transaction: Transaction) => Promise<T>): Promise<T> {
    const entries: LogEntry[] = [];
    savepoint.run();
    try {
      const result = await work({
        db,
        rollBack: async () => void rollBack.run(),
        log: (entry) => void entries.push(entry),
      });
      requestLog.append(entries);
      release.run();
      return result;
    } catch (error) {
      // If the disk is full, SQLite itself rolls back the whole batch.
      if (connection.isTransaction) {
        rollBack.run();
        release.run();
      }
      throw error;
    }
  }

  async function flush(): Promise<void> {
    do {
      await gather();
      await makeRoom();
      await runBatch();
    } while (transactions.length > 0 || entriesAreDue());
    flushing = undefined;
  }

  /** Waits until an iteration of the event loop brings no further work, because a batch and its sync take as long as several reads. */
  async function gather(): Promise<void> {
    const deadline = performance.now() + MAX_GATHER_MS;
    let before: number;
    do {
      before = transactions.length + waitingEntries.length;
      await new Promise((resolve) => setImmediate(resolve));
    } while (transactions.length + waitingEntries.length > before && performance.now() < deadline);
  }

  /** Entries join the next sync if it already has other work. */
  function entriesAreDue(): boolean {
    return waitingEntries.length > 0 && (!syncing || committed.length > 0);
  }

  /** Yields at least one transaction, and none after the time limit. */
  function* nextTransactions(maxMs: number): Generator<Waiting> {
    const deadline = performance.now() + maxMs;
    for (let next = transactions.shift(); next; next = performance.now() < deadline ? transactions.shift() : undefined) yield next;
  }

  async function runBatch(): Promise<void> {
    const batch: Waiting[] = [];
    const entries = waitingEntries;
    waitingEntries = [];
    const done: Committed[] = [];
    function rejectAll(error: unknown): void {
      for (const { reject } of [...batch, ...entries]) reject(error);
    }
    try {
      if (broken) throw broken;
      if (!connection.isOpen) throw new StoreUnavailableError('The store was closed.');
      begin.run();
    } catch (error) {
      batch.push(...transactions.splice(0));
      return rejectAll(unavailableOr(error));
    }
    try {
      for (const next of nextTransactions(entries.length > 0 ? MAX_BATCH_WITH_ENTRIES_MS : MAX_BATCH_MS)) {
        batch.push(next);
        try {
          done.push({ resolve: await next.run(), reject: next.reject });
        } catch (error) {
          if (!connection.isTransaction) throw error;
          next.reject(unavailableOr(error));
        }
      }
      const append = requestLog.group();
      for (const waitingEntry of entries) {
        try {
          append(waitingEntry.entry);
          done.push(waitingEntry);
        } catch (error) {
          if (!connection.isTransaction) throw error;
          waitingEntry.reject(unavailableOr(error));
        }
      }
      end.run();
    } catch (error) {
      if (connection.isTransaction) connection.exec('ROLLBACK');
      return rejectAll(unavailableOr(error));
    } finally {
    }
    committed.push(...done);
    if (committed.length > 0) syncing ??= makeDurable();
  }

  async function makeDurable(): Promise<void> {
    while (committed.length > 0) {
      const batch = committed;
      committed = [];
      try {
        await sync();
        for (const { resolve } of batch) resolve();
      } catch (error) {
        broken =
          error instanceof StoreUnavailableError
            ? error
            : new StoreUnavailableError('The disk did not confirm a write. Check the disk, and start the service again.', { cause: error });
        onFailedSync(broken);
        for (const { reject } of [...batch, ...committed.splice(0)]) reject(broken);
      }
    }
    syncing = undefined;
    if (waitingEntries.length > 0) flushing ??= flush();
  }

  function enqueue<T>(work: () => T | Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      if (broken) return reject(broken);
      transactions.push({
        run: async () => {
          const result = await work();
          return () => resolve(result);
        },
        reject,
      });
      flushing ??= flush();
    });
  }

  const commit: Store['commit'] = (work) => enqueue(() => runTransaction(work));

  return Object.assign(commit, {
    appendToLog: (entry: LogEntry) =>
      new Promise<void>((resolve, reject) => {
        if (broken) return reject(broken);
        waitingEntries.push({ entry, resolve, reject });
        if (entriesAreDue()) flushing ??= flush();
      }),
    async idle() {
      for (let running = flushing ?? syncing; running; running = flushing ?? syncing) await running;
    },
  });
}

/** Turns an outage into a StoreUnavailableError, and returns other errors unchanged. */
export function unavailableOr(error: unknown): unknown {
  const code = error instanceof Error && 'errcode' in error && typeof error.errcode === 'number' ? error.errcode & 0xff : 0;
  return UNAVAILABLE.has(code) ? new StoreUnavailableError('The store cannot be written to at the moment.', { cause: error }) : error;
}
