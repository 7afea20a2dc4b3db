import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

import { pendingMigrations } from '../migrate.ts';
import { migrationsOf } from '../migrations/all.ts';
import { kyselyOn, openSqliteStore, STORE_FILE } from './open.ts';

/** The migrations that the next start on a data directory would run. Changes nothing; a service may use the store. */
export async function pendingOfSqlite(directory: string): Promise<string[]> {
  const file = join(directory, STORE_FILE);
  if (!existsSync(file)) return Object.keys(migrationsOf('sqlite'));
  const connection = new DatabaseSync(file, { readOnly: true });
  try {
    return await pendingMigrations(kyselyOn(connection), 'sqlite');
  } finally {
    connection.close();
  }
}

/** @throws StoreOpenError if a service uses the directory, or another version created the tables. */
export async function migrateSqlite(directory: string): Promise<void> {
  const store = await openSqliteStore(directory);
  await store.close();
}
