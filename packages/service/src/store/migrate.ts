import { errorText } from '@reseller/contract/is-error';
import { sql } from 'kysely';
import { Migrator } from 'kysely/migration';
import type { Migration } from 'kysely/migration';

import { FIRST_SCHEMA, migrationsOf } from './migrations/all.ts';
import { lockingSessions } from './postgres/locking-sessions.ts';
import { StoreOpenError } from './store.ts';
import type { Db, Engine } from './store.ts';

/** Migrations by name, in the order in which they run. */
export type Migrations = Readonly<Record<string, Migration>>;

/** How a migration locks tables on PostgreSQL. */
export interface Locking {
  /** Milliseconds for which it waits for each lock. */
  readonly timeoutMs: number;
  /** A table that it locks first, after which no transaction of the service is open. */
  readonly gate: string | undefined;
}

/** Runs one migration in a transaction. */
export type RunMigration = (migration: (locking?: Locking) => Promise<void>) => Promise<void>;

/**
 * Brings the tables up to date. Each migration has a transaction of its own, so an interrupted upgrade goes on where it stopped. On PostgreSQL,
 * several instances may call this at the same time, and each migration runs once.
 *
 * @throws StoreOpenError if a migration fails, or if a newer version or a version from before the first release wrote the store.
 */
export async function migrate(db: Db, engine: Engine, run: RunMigration, migrations: Migrations = migrationsOf(engine)): Promise<void> {
  await assertReleased(db, engine);
  const known = Object.keys(migrations);
  let done = await executedMigrations(db, engine);
  const before = done.length;
  for (; !isUpToDate(done, known); done = await executedMigrations(db, engine)) {
    try {
      await migrateUp(db, migrations, run);
    } catch (error) {
      if (!(error instanceof FailedMigration)) throw error;
      const blockers = engine === 'postgres' ? await lockingSessions(db) : [];
      throw new StoreOpenError(failureText(error, { before, done: done.length, total: known.length, blockers }), { cause: error.cause });
    }
  }
}

/** How far a run of migrations was when one of them failed. */
interface FailedRun {
  /** The migrations that the store had before the run, and those that it has now. */
  readonly before: number;
  readonly done: number;
  /** The migrations of this version. */
  readonly total: number;
  readonly blockers: readonly string[];
}

function failureText({ migration, message }: FailedMigration, { before, done, total, blockers }: FailedRun): string {
  const kept =
    done === before
      ? 'It changed nothing.'
      : `It changed nothing; ${done - before} of the ${total - before} migrations that were missing are in the store and stay there, which older instances do not mind.`;
  const held = blockers.length === 0 ? '' : ` These sessions hold locks: ${blockers.join('; ')}.`;
  return `The tables of the store could not be brought up to date: ${migration} failed (${message}). ${kept}${held} Remove the cause, then start again.`;
}

class FailedMigration extends Error {
  readonly migration: string;
  constructor(migration: string, cause: unknown) {
    super(errorText(cause), { cause });
    this.migration = migration;
  }
}

/** The names of the migrations that the store has, in order. */
async function executedMigrations(db: Db, engine: Engine): Promise<readonly string[]> {
  if (!(await hasTable(db, engine, 'kysely_migration'))) return [];
  const { rows } = await sql<{ name: string }>`select name from kysely_migration order by name`.execute(db);
  return rows.map(({ name }) => name);
}

async function migrateUp(db: Db, migrations: Migrations, run: RunMigration): Promise<void> {
  let name = 'the list of migrations';
  try {
    await run(async (locking) => {
      const limited = locking === undefined ? migrations : withLocking(migrations, locking);
      const { error, results = [] } = await migratorOf(db, limited).migrateUp();
      name = results.find(({ status }) => status === 'Error')?.migrationName ?? name;
      if (error !== undefined) throw error;
    });
  } catch (error) {
    throw new FailedMigration(name, error);
  }
}

/**
 * Whether all migrations have run. The migrator checks this too, but reads the columns of all tables first.
 *
 * @throws StoreOpenError if a newer version wrote the store.
 */
function isUpToDate(executed: readonly string[], known: readonly string[]): boolean {
  const newest = executed.findLast((name) => !known.includes(name));
  if (newest === undefined) return executed.length === known.length;
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
  const migrations = await migratorOf(db, migrationsOf(engine)).getMigrations();
  return migrations.flatMap(({ name, executedAt }) => (executedAt === undefined ? [name] : []));
}

function migratorOf(db: Db, migrations: Migrations): Migrator {
  return new Migrator({ db, provider: { getMigrations: async () => ({ ...migrations }) } });
}

function withLocking(migrations: Migrations, { timeoutMs, gate }: Locking): Migrations {
  return Object.fromEntries(
    Object.entries(migrations).map(([name, { up }]) => [
      name,
      {
        async up(db: Db) {
          await sql`set local lock_timeout = ${sql.lit(timeoutMs)}`.execute(db);
          if (gate !== undefined) await sql`lock table ${sql.table(gate)} in access exclusive mode`.execute(db);
          await up(db);
          await sql`reset lock_timeout`.execute(db);
        },
      },
    ]),
  );
}

/**
 * Versions before the first release had other tables.
 *
 * @throws StoreOpenError if such a version wrote the store.
 */
export async function assertReleased(db: Db, engine: Engine): Promise<void> {
  if (!(await hasTable(db, engine, 'kysely_migration'))) return;
  const { rows: executed } = await sql<{ name: string }>`select name from kysely_migration`.execute(db);
  if (executed.length === 0 || executed.some(({ name }) => name === FIRST_SCHEMA)) return;
  throw new StoreOpenError(
    `A development version from before the first release wrote the store, and its data cannot be converted. ${
      engine === 'sqlite' ? 'Delete the data directory, or name another one.' : 'Create a new database, and name it in DATABASE_URL.'
    }`,
  );
}
