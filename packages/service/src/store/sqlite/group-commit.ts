import type { DatabaseSync } from 'node:sqlite';

import { StoreUnavailableError } from '../store.ts';
import type { Db, Store, Transaction } from '../store.ts';

/** Primary result codes of SQLite that mean: not now. Busy, read-only, input/output error, full, cannot open. */
const UNAVAILABLE = new Set([5, 8, 10, 13, 14]);

interface Unit {
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

  async function attempt<T>(part: () => Promise<T>): Promise<T> {
    connection.exec('SAVEPOINT part');
    try {
      const result = await part();
      connection.exec('RELEASE part');
      return result;
    } catch (error) {
      // A full disk makes SQLite end the whole transaction by itself.
      if (connection.isTransaction) connection.exec('ROLLBACK TO part; RELEASE part');
      throw error;
    }
  }

  const transaction: Transaction = { db, attempt };

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
    try {
      connection.exec('BEGIN IMMEDIATE');
      for (const unit of batch) {
        try {
          committed.push(await attempt(() => unit.run()));
        } catch (error) {
          if (!connection.isTransaction) throw error;
          unit.reject(unavailableOr(error));
        }
      }
      connection.exec('COMMIT');
    } catch (error) {
      if (connection.isTransaction) connection.exec('ROLLBACK');
      for (const unit of batch) unit.reject(unavailableOr(error));
      return;
    }
    for (const answer of committed) answer();
  }

  const commit: Store['commit'] = (work) =>
    new Promise((resolve, reject) => {
      waiting.push({
        run: async () => {
          const result = await work(transaction);
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
