import type { DatabaseSync, StatementSync } from 'node:sqlite';

import { isError } from '@reseller/contract/is-error';

import type { LogEntry } from '../log-row.ts';
import { lastQueries } from '../prepared.ts';
import { StoreUnavailableError } from '../store.ts';
import type { Db, Transaction } from '../store.ts';
import { tuningOf } from '../tuning.ts';
import type { Tuning } from '../tuning.ts';
import { logWriter } from './request-log.ts';
import type { LogWriter } from './request-log.ts';

/** Primary result codes of SQLite for an outage: busy, read-only, input/output error, full, cannot open. */
const UNAVAILABLE = new Set([5, 8, 10, 13, 14]);

interface WaitingWork {
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
  /**
   * Makes all earlier commits durable. After a failure the contents of the disk are unknown, so the store refuses all further transactions
   * until it is opened again.
   */
  sync(): Promise<void>;
  /** Called after such a failure, before any caller learns of it. */
  onFailedSync?(error: StoreUnavailableError): void;
  /** Called before each batch, which waits for the returned promise. */
  makeRoom?(): Promise<void> | undefined;
}

/**
 * Group commit. Transactions run one after another. Those that arrive in successive iterations of the event loop share one SQLite
 * transaction, each in its own savepoint, so that a failing one does not affect the others. All transactions that were committed when a
 * `sync` starts share it, and further ones run meanwhile. Log entries alone wait until it has ended, so that more of them share the next
 * transaction. They would have to wait for the next `sync` in any case.
 *
 * The driver is synchronous, so a batch runs to its end within one iteration of the event loop. Its time is limited, so that other
 * requests do not wait for all transactions that arrived together.
 */
export class GroupCommit {
  readonly #connection: DatabaseSync;
  readonly #db: Db;
  readonly #disk: Disk;
  readonly #tuning: Tuning;
  readonly #requestLog: LogWriter;
  readonly #begin: StatementSync;
  readonly #end: StatementSync;
  readonly #savepoint: StatementSync;
  readonly #release: StatementSync;
  readonly #rollBack: StatementSync;
  readonly #transactions: WaitingWork[] = [];
  #entries: WaitingEntry[] = [];
  #flushing: Promise<void> | undefined;
  #committed: Committed[] = [];
  #syncing: Promise<void> | undefined;
  #broken: StoreUnavailableError | undefined;

  constructor(connection: DatabaseSync, db: Db, disk: Disk) {
    this.#connection = connection;
    this.#db = db;
    this.#disk = disk;
    this.#tuning = tuningOf(db);
    this.#requestLog = logWriter(connection, this.#tuning);
    this.#begin = connection.prepare('BEGIN IMMEDIATE');
    this.#end = connection.prepare('COMMIT');
    this.#savepoint = connection.prepare('SAVEPOINT work');
    this.#release = connection.prepare('RELEASE work');
    this.#rollBack = connection.prepare('ROLLBACK TO work');
  }

  commit<T>(work: (transaction: Transaction) => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.#broken) return reject(this.#broken);
      this.#transactions.push({
        run: async () => {
          const result = await this.#runTransaction(work);
          return () => resolve(result);
        },
        reject,
      });
      this.#flushing ??= this.#flush();
    });
  }

  /** Appends an entry to the request log. It needs no savepoint, because a statement that fails changes nothing. */
  appendToLog(entry: LogEntry): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#broken) return reject(this.#broken);
      this.#entries.push({ entry, resolve, reject });
      if (this.#entriesAreDue()) this.#flushing ??= this.#flush();
    });
  }

  /** Resolves when no transaction is in progress. */
  async idle(): Promise<void> {
    for (let running = this.#flushing ?? this.#syncing; running; running = this.#flushing ?? this.#syncing) await running;
  }

  async #runTransaction<T>(work: (transaction: Transaction) => Promise<T>): Promise<T> {
    const entries: LogEntry[] = [];
    const last = lastQueries();
    this.#savepoint.run();
    try {
      const result = await work({
        db: this.#db,
        rollBack: async () => {
          last.discard();
          this.#rollBack.run();
        },
        log: (entry) => void entries.push(entry),
        atCommit: last.add,
      });
      const resolve = await last.run(this.#db);
      this.#requestLog.append(entries);
      this.#release.run();
      resolve();
      return result;
    } catch (error) {
      // If the disk is full, SQLite itself rolls back the whole batch.
      if (this.#connection.isTransaction) {
        this.#rollBack.run();
        this.#release.run();
      }
      throw error;
    }
  }

  async #flush(): Promise<void> {
    do {
      await this.#gather();
      await this.#disk.makeRoom?.();
      await this.#runBatch();
    } while (this.#transactions.length > 0 || this.#entriesAreDue());
    this.#flushing = undefined;
  }

  /** Waits until an iteration of the event loop brings no further work, because a batch and its sync take as long as several reads. */
  async #gather(): Promise<void> {
    const deadline = performance.now() + this.#tuning.gatherMs;
    let before: number;
    do {
      before = this.#transactions.length + this.#entries.length;
      await new Promise((resolve) => setImmediate(resolve));
    } while (this.#transactions.length + this.#entries.length > before && performance.now() < deadline);
  }

  /** Entries join the next sync if it already has other work. */
  #entriesAreDue(): boolean {
    return this.#entries.length > 0 && (!this.#syncing || this.#committed.length > 0);
  }

  async #runBatch(): Promise<void> {
    const entries = this.#entries;
    this.#entries = [];
    try {
      if (this.#broken) throw this.#broken;
      if (!this.#connection.isOpen) throw new StoreUnavailableError('The store was closed.');
      this.#begin.run();
    } catch (error) {
      for (const { reject } of [...this.#transactions.splice(0), ...entries]) reject(unavailableOr(error));
      return;
    }
    const begun: WaitingWork[] = [];
    try {
      const done = [...(await this.#runWaiting(begun, entries.length > 0)), ...this.#appendEntries(entries)];
      this.#end.run();
      this.#committed.push(...done);
    } catch (error) {
      if (this.#connection.isTransaction) this.#connection.exec('ROLLBACK');
      for (const { reject } of [...begun, ...entries]) reject(unavailableOr(error));
    }
    if (this.#committed.length > 0) this.#syncing ??= this.#makeDurable();
  }

  /**
   * Runs at least one transaction, and none after the time limit.
   *
   * @param begun Receives each one before it runs.
   */
  async #runWaiting(begun: WaitingWork[], hasEntries: boolean): Promise<Committed[]> {
    const deadline = performance.now() + (hasEntries ? this.#tuning.batchWithEntriesMs : this.#tuning.batchMs);
    const done: Committed[] = [];
    for (let next = this.#transactions.shift(); next; next = performance.now() < deadline ? this.#transactions.shift() : undefined) {
      begun.push(next);
      try {
        done.push({ resolve: await next.run(), reject: next.reject });
      } catch (error) {
        if (!this.#connection.isTransaction) throw error;
        next.reject(unavailableOr(error));
      }
    }
    return done;
  }

  #appendEntries(entries: readonly WaitingEntry[]): Committed[] {
    const append = this.#requestLog.group();
    return entries.filter(({ entry, reject }) => {
      try {
        append(entry);
        return true;
      } catch (error) {
        if (!this.#connection.isTransaction) throw error;
        reject(unavailableOr(error));
        return false;
      }
    });
  }

  async #makeDurable(): Promise<void> {
    while (this.#committed.length > 0) {
      const batch = this.#committed.splice(0);
      try {
        await this.#disk.sync();
        for (const { resolve } of batch) resolve();
      } catch (error) {
        this.#broken =
          error instanceof StoreUnavailableError
            ? error
            : new StoreUnavailableError('The disk did not confirm a write. Check the disk, and start the service again.', { cause: error });
        this.#disk.onFailedSync?.(this.#broken);
        for (const { reject } of [...batch, ...this.#committed.splice(0)]) reject(this.#broken);
      }
    }
    this.#syncing = undefined;
    if (this.#entries.length > 0) this.#flushing ??= this.#flush();
  }
}

/** Turns an outage into a StoreUnavailableError, and returns other errors unchanged. */
export function unavailableOr(error: unknown): unknown {
  const code = isError(error) && 'errcode' in error && typeof error.errcode === 'number' ? error.errcode & 0xff : 0;
  return UNAVAILABLE.has(code) ? new StoreUnavailableError('The store cannot be written to at the moment.', { cause: error }) : error;
}
