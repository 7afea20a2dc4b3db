import { sql } from 'kysely';
import { Migrator } from 'kysely/migration';

import { migrationsOf } from './migrations/all.ts';
import { StoreOpenError } from './store.ts';
import type { Db, Engine } from './store.ts';

/**
 * Brings the tables up to date. On PostgreSQL, several instances may call this at the same time, and one of them runs the migrations.
 *
 * @throws StoreOpenError if a migration fails or an unreleased version wrote the store.
 */
export async function migrate(db: Db, engine: Engine): Promise<void> {
  await assertReleased(db, engine);
  if (await isUpToDate(db, engine)) return;
  const { error } = await migratorOf(db, engine).migrateToLatest();
  if (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new StoreOpenError(
      `The tables of the store could not be brought up to date (${reason}). Check that this version of the service or an older one wrote the store.`,
      { cause: error },
    );
  }
}

/**
 * Whether all migrations have run. The migrator checks this too, but reads the columns of all tables first.
 *
 * @throws StoreOpenError if a newer version wrote the store.
 */
async function isUpToDate(db: Db, engine: Engine): Promise<boolean> {
  if (!(await hasTable(db, engine, 'kysely_migration'))) return false;
  const known = Object.keys(migrationsOf(engine));
  const { rows } = await sql<{ name: string }>`select name from kysely_migration order by name`.execute(db);
  const newest = rows.map(({ name }) => name).findLast((name) => !known.includes(name));
  if (newest === undefined) return rows.length === known.length;
  throw new StoreOpenError(
    `A newer version of the service wrote the store: it has the migration ${newest}. Start that version; this one knows ${known.at(-1)}.`,
  );
}

async function hasTable(db: Db, engine: Engine, name: string): Promise<boolean> {
  const found =
    engine === 'sqlite'
      ? sql`select 1 from sqlite_master where type = 'table' and name = ${name}`
      : sql`select 1 where to_regclass(${name}) is not null`;
  return (await found.execute(db)).rows.length > 0;
}

/**
 * The migrations of this version that have not run yet, in order. Changes nothing.
 *
 * @throws StoreOpenError if an unreleased version wrote the store.
 */
export async function pendingMigrations(db: Db, engine: Engine): Promise<string[]> {
  await assertReleased(db, engine);
  const migrations = await migratorOf(db, engine).getMigrations();
  return migrations.flatMap(({ name, executedAt }) => (executedAt === undefined ? [name] : []));
}

function migratorOf(db: Db, engine: Engine): Migrator {
  return new Migrator({ db, provider: { getMigrations: async () => migrationsOf(engine) } });
}

/**
 * Versions before the first release had other tables under the name of the first migration.
 *
 * @throws StoreOpenError if such a version wrote the store.
 */
export async function assertReleased(db: Db, engine: Engine): Promise<void> {
  if (!(await hasTable(db, engine, 'kysely_migration'))) return;
  const { rows: migrated } = await sql`select name from kysely_migration`.execute(db);
  // In this order, because another instance may be creating the tables at the same time.
  if (migrated.length === 0 || (await hasTable(db, engine, 'fencing_tokens'))) return;
  throw new StoreOpenError(
    `A development version from before the first release wrote the store, and its data cannot be converted. ${
      engine === 'sqlite' ? 'Delete the data directory, or name another one.' : 'Create a new database, and name it in DATABASE_URL.'
    }`,
  );
}
