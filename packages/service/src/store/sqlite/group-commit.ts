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

/**
 * Runs units of work one after another, those of one turn of the event loop in one transaction:
 * they share its fsync and are answered after it (group commit). Each unit has a savepoint, so
 * that a failing one leaves the others as they are.
 *
 * The driver answers synchronously, so a batch runs to its end before the event loop turns.
 */
export function groupCommit(connection: DatabaseSync, db: Db): Store['commit'] & { idle(): Promise<void> } {
  let waiting: Unit[] = [];
  let flushing: Promise<void> | undefined;
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
    const committed: (() => void)[] = [];
    if (!connection.isOpen) {
      for (const unit of batch) unit.reject(new StoreUnavailableError('The store was closed.'));
      return;
    }
    try {
      begin.run();
      for (const unit of batch) {
        try {
          committed.push(await unit.run());
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
    for (const answer of committed) answer();
  }

  const commit: Store['commit'] = (work) =>
    new Promise((resolve, reject) => {
      waiting.push({
        run: async () => {
          const result = await runUnit(work);
          return () => resolve(result);
        },
        reject,
      });
      flushing ??= flush();
    });

  return Object.assign(commit, { idle: () => flushing ?? Promise.resolve() });
}

/** The error as callers know it: whether trying again later helps. */
export function unavailableOr(error: unknown): unknown {
  const code = error instanceof Error && 'errcode' in error && typeof error.errcode === 'number' ? error.errcode & 0xff : 0;
  return UNAVAILABLE.has(code) ? new StoreUnavailableError('The store cannot be written to at the moment.', { cause: error }) : error;
}
