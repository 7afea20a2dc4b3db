import type { DatabaseSync } from 'node:sqlite';

import { StoreUnavailableError } from '../store.ts';
import type { Db, LogEntry, Store, Transaction } from '../store.ts';
import { logWriter } from './request-log.ts';

/** Primary result codes of SQLite that mean: not now. Busy, read-only, input/output error, full, cannot open. */
const UNAVAILABLE = new Set([5, 8, 10, 13, 14]);

interface Unit {
  /** Runs the work; what it returns answers whoever waits, after the commit. */
  run(): Promise<() => void>;
  reject(error: unknown): void;
}

/** A unit that is committed, and whose caller waits until it is durable. */
interface Committed {
  answer(): void;
  reject(error: unknown): void;
}

/**
 * Runs units of work one after another, those of one turn of the event loop in one transaction.
 * Each unit has a savepoint, so that a failing one leaves the others as they are. A unit is
 * answered when it is on the disk: all that were committed by then share one `sync` (group commit),
 * and further ones are run meanwhile.
 *
 * The driver answers synchronously, so a batch runs to its end before the event loop turns.
 *
 * @param sync Has the disk keep what was committed before it is called. Where it fails nobody knows
 *   what the disk holds, so nothing is taken any more until the store is opened again.
 */
export function groupCommit(connection: DatabaseSync, db: Db, sync: () => Promise<void>): Store['commit'] & { idle(): Promise<void> } {
  let waiting: Unit[] = [];
  let flushing: Promise<void> | undefined;
  let committed: Committed[] = [];
  let syncing: Promise<void> | undefined;
  let broken: StoreUnavailableError | undefined;
  const begin = connection.prepare('BEGIN IMMEDIATE');
  const end = connection.prepare('COMMIT');
  const savepoint = connection.prepare('SAVEPOINT unit');
  const release = connection.prepare('RELEASE unit');
  const undo = connection.prepare('ROLLBACK TO unit');
  const requestLog = logWriter(connection);

  async function runUnit<T>(work: (transaction: Transaction) => Promise<T>): Promise<T> {
    const entries: LogEntry[] = [];
    savepoint.run();
    try {
      const result = await work({
        db,
        undo: async () => void undo.run(),
        logRewritten: async () => requestLog.forget(),
        log: (entry) => void entries.push(entry),
      });
      requestLog.append(entries);
      release.run();
      return result;
    } catch (error) {
      // A full disk makes SQLite end the whole transaction by itself.
      if (connection.isTransaction) {
        undo.run();
        release.run();
        requestLog.forget();
      }
      throw error;
    }
  }

  async function flush(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    while (waiting.length > 0) {
      const batch = waiting;
      waiting = [];
      await runBatch(batch);
    }
    flushing = undefined;
  }

  async function runBatch(batch: readonly Unit[]): Promise<void> {
    const done: Committed[] = [];
    if (!connection.isOpen) {
      for (const unit of batch) unit.reject(new StoreUnavailableError('The store was closed.'));
      return;
    }
    try {
      begin.run();
      for (const unit of batch) {
        try {
          done.push({ answer: await unit.run(), reject: unit.reject });
        } catch (error) {
          if (!connection.isTransaction) throw error;
          unit.reject(unavailableOr(error));
        }
      }
      end.run();
    } catch (error) {
      if (connection.isTransaction) connection.exec('ROLLBACK');
      requestLog.forget();
      for (const unit of batch) unit.reject(unavailableOr(error));
      return;
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
        for (const { answer } of batch) answer();
      } catch (error) {
        broken = new StoreUnavailableError('The disk did not confirm what was written. Check the disk, and start the service again.', {
          cause: error,
        });
        for (const { reject } of [...batch, ...committed.splice(0)]) reject(broken);
      }
    }
    syncing = undefined;
  }

  const commit: Store['commit'] = (work) =>
    new Promise((resolve, reject) => {
      if (broken) return reject(broken);
      waiting.push({
        run: async () => {
          const result = await runUnit(work);
          return () => resolve(result);
        },
        reject,
      });
      flushing ??= flush();
    });

  return Object.assign(commit, {
    async idle() {
      await flushing;
      await syncing;
    },
  });
}

/** The error as callers know it: whether trying again later helps. */
export function unavailableOr(error: unknown): unknown {
  const code = error instanceof Error && 'errcode' in error && typeof error.errcode === 'number' ? error.errcode & 0xff : 0;
  return UNAVAILABLE.has(code) ? new StoreUnavailableError('The store cannot be written to at the moment.', { cause: error }) : error;
}
