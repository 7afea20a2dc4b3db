import { setTimeout as wait } from 'node:timers/promises';

import { Kysely, PostgresDialect } from 'kysely';

import { migrate, pendingMigrations } from '../migrate.ts';
import type { Locking, RunMigration } from '../migrate.ts';
import type { Schema } from '../schema.ts';
import type { Db } from '../store.ts';
import { migrationConnectionsFor } from './connections.ts';
import { isLockFailure, openFailure } from './errors.ts';
import { GATE } from './gate.ts';
import { lockingSessions } from './locking-sessions.ts';

/**
 * The migrations that the next start on a database would run. Changes nothing.
 *
 * @throws StoreOpenError if the database cannot be used.
 */
export function pendingOfPostgres(url: string): Promise<string[]> {
  return onDatabase(url, (db) => pendingMigrations(db, 'postgres'));
}

/**
 * The sessions for which a migration may have to wait: a text for each.
 *
 * @throws StoreOpenError if the database cannot be used.
 */
export function lockingSessionsOf(url: string): Promise<string[]> {
  return onDatabase(url, lockingSessions);
}

/** @throws StoreOpenError if the database cannot be used, or another version created its tables. */
export function migratePostgres(url: string): Promise<void> {
  return onDatabase(url, (db) => migrate(db, 'postgres', retryingLocks()));
}

/** A busy database takes several attempts. After this time, a transaction is open that does not end by itself. */
const MAX_LOCK_WAIT_MS = 60_000;
/** How an attempt of a migration locks tables, and how long the next one waits. */
interface TimedLocking extends Locking {
  /** The mean time until the next attempt, in which the requests that waited behind the migration run. */
  readonly pauseMs: number;
}

/**
 * All requests that need the table wait behind a migration. Its wait is shorter than PostgreSQL's `deadlock_timeout` of 1 second, so a migration
 * gives up before a request fails with a deadlock.
 */
const QUICK: TimedLocking = { timeoutMs: 500, gate: undefined, pauseMs: 250 };
const QUICK_ATTEMPTS = 10;
/**
 * For later attempts. On a busy database a transaction that takes longer than the time above may always be open, and a transaction that locks the
 * tables in another order ends a migration by a deadlock. All changes wait behind such an attempt, so the pause is as long as its wait.
 */
const PATIENT: TimedLocking = { timeoutMs: 3_000, gate: GATE, pauseMs: 3_000 };

/**
 * Runs a migration again while other transactions hold the locks that it needs. Kysely has rolled back each failed attempt.
 *
 * @param maxWaitMs Milliseconds after which it gives up.
 */
export function retryingLocks(maxWaitMs = MAX_LOCK_WAIT_MS): RunMigration {
  return async (migration) => {
    const deadline = performance.now() + maxWaitMs;
    for (let count = 1; ; count++) {
      const attempt = count > QUICK_ATTEMPTS ? PATIENT : QUICK;
      try {
        return await migration(attempt);
      } catch (error) {
        if (!isLockFailure(error) || performance.now() >= deadline) throw error;
      }
      // A random time, so that attempts do not meet a periodic transaction each time.
      await wait(attempt.pauseMs * (0.5 + Math.random()));
    }
  };
}

async function onDatabase<T>(url: string, work: (db: Db) => Promise<T>): Promise<T> {
  const db = new Kysely<Schema>({ dialect: new PostgresDialect({ pool: migrationConnectionsFor(url) }) });
  try {
    return await work(db);
  } catch (error) {
    throw openFailure(error, url);
  } finally {
    await db.destroy();
  }
}
