import { Kysely, PostgresDialect } from 'kysely';

import { migrate, pendingMigrations } from '../migrate.ts';
import type { Schema } from '../schema.ts';
import { StoreOpenError } from '../store.ts';
import type { Db } from '../store.ts';
import { migrationConnectionsFor } from './connections.ts';
import { openFailure } from './errors.ts';

/**
 * The migrations that the next start on a database would run. Changes nothing.
 *
 * @throws StoreOpenError if the database cannot be used.
 */
export function pendingOfPostgres(url: string): Promise<string[]> {
  return onDatabase(url, (db) => pendingMigrations(db, 'postgres'));
}

/** @throws StoreOpenError if the database cannot be used, or another version created its tables. */
export function migratePostgres(url: string): Promise<void> {
  return onDatabase(url, (db) => migrate(db, 'postgres'));
}

async function onDatabase<T>(url: string, work: (db: Db) => Promise<T>): Promise<T> {
  const db = new Kysely<Schema>({ dialect: new PostgresDialect({ pool: migrationConnectionsFor(url) }) });
  try {
    return await work(db);
  } catch (error) {
    throw error instanceof StoreOpenError ? error : new StoreOpenError(openFailure(error, url), { cause: error });
  } finally {
    await db.destroy();
  }
}
