/** The rules of all migrations after the first schema: the previous version runs on their tables while an upgrade is in progress. */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

import { Kysely, PostgresDialect, sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import { describe, expect, onTestFinished, test } from 'vitest';

import { engines, newDatabase, newDirectory } from '../../test/engines.ts';
import { firstSchemaOf } from '../../test/upgrade/frozen-store.ts';
import { migrate } from './migrate.ts';
import type { RunMigration } from './migrate.ts';
import { FIRST_SCHEMA, migrationsOf } from './migrations/all.ts';
import { migrationConnectionsFor } from './postgres/connections.ts';
import { retryingLocks } from './postgres/migrate.ts';
import { openPostgresStore } from './postgres/open.ts';
import type { Schema } from './schema.ts';
import { atomically, kyselyOn } from './sqlite/open.ts';
import type { Db, Engine } from './store.ts';

/** Tables without a service, on which a test runs migrations. */
interface Tables {
  readonly db: Db;
  readonly run: RunMigration;
}

async function emptyTables(engine: Engine): Promise<Tables> {
  return engine === 'sqlite' ? onSqlite() : onPostgres(await newDatabase());
}

function onSqlite(): Tables {
  const connection = new DatabaseSync(join(newDirectory(), 'store.sqlite'));
  onTestFinished(() => connection.close());
  return { db: kyselyOn(connection), run: atomically(connection) };
}

function onPostgres(url: string, maxWaitMs?: number): Tables {
  const db = new Kysely<Schema>({ dialect: new PostgresDialect({ pool: migrationConnectionsFor(url) }) });
  onTestFinished(() => db.destroy());
  return { db, run: retryingLocks(maxWaitMs) };
}

function running(...statements: readonly string[]): Migration {
  return {
    async up(db) {
      for (const statement of statements) await sql.raw(statement).execute(db);
    },
  };
}

async function executed(db: Db): Promise<readonly string[]> {
  const { rows } = await sql<{ name: string }>`select name from kysely_migration order by name`.execute(db);
  return rows.map(({ name }) => name);
}

const adding = (column: string) => running(`alter table accounts add column ${column} integer`);

describe.each(engines)('on %s', (engine) => {
  test('a migration that fails undoes nothing of those before it, and the next start goes on with it', async () => {
    const { db, run } = await emptyTables(engine);
    const failing = {
      ...firstSchemaOf(engine),
      '0002-good': adding('added'),
      '0003-bad': running('alter table accounts add column later integer', 'no statement'),
    };
    await expect(migrate(db, engine, run, failing)).rejects.toThrow(
      /: 0003-bad failed \(.*\)\. It changed nothing; 2 of the 3 migrations that were missing are in the store and stay there, which older instances do not mind\. Remove the cause, then/,
    );
    expect(await executed(db)).toEqual([FIRST_SCHEMA, '0002-good']);
    const mended = { ...failing, '0003-bad': adding('later') };
    await migrate(db, engine, run, mended);
    expect(await executed(db)).toEqual(Object.keys(mended));
  });

  test('the first schema stays as it is when later migrations run: the previous version can go on', async () => {
    const { db, run } = await emptyTables(engine);
    const migrations = Object.entries(migrationsOf(engine));
    await migrate(db, engine, run, firstSchemaOf(engine));
    const before = await columnsOf(db);
    await migrate(db, engine, run, Object.fromEntries(migrations));
    expect(breaksIn(before, await columnsOf(db))).toEqual([]);
  });

  test('a dropped, renamed or required column would break the previous version, and an optional one would not', async () => {
    const { db, run } = await emptyTables(engine);
    const migrations: Record<string, Migration> = firstSchemaOf(engine);
    const breaksOf = async (statement: string) => {
      const before = await columnsOf(db);
      migrations[`000${Object.keys(migrations).length + 1}-change`] = running(statement);
      await migrate(db, engine, run, migrations);
      return breaksIn(before, await columnsOf(db));
    };
    await migrate(db, engine, run, migrations);
    expect(await breaksOf('alter table handles drop column fax')).toEqual(['handles.fax is gone']);
    const renamed = ['handles.city is gone', 'handles.town needs a value'];
    expect(await breaksOf('alter table handles rename column city to town')).toEqual(renamed);
    expect(await breaksOf('drop table snapshot_rows')).toEqual(['snapshot_rows is gone']);
    expect(await breaksOf("alter table handles add column title text not null default ''")).toEqual([]);
    expect(await breaksOf('alter table handles add column note text')).toEqual([]);
    expect(await breaksOf('create table notes (id text not null)')).toEqual([]);
  });
});

/** Whether a column may be left out of an insert, by column and by table. */
type Columns = ReadonlyMap<string, ReadonlyMap<string, boolean>>;

async function columnsOf(db: Db): Promise<Columns> {
  const tables = await db.introspection.getTables();
  return new Map(
    tables.map(({ name, columns }) => [
      name,
      new Map(columns.map((column) => [column.name, column.isNullable || column.hasDefaultValue || column.isAutoIncrementing])),
    ]),
  );
}

/** What the version that knows the tables of `before` could no longer do: read a table or column, or insert a row without a new column. */
function breaksIn(before: Columns, after: Columns): string[] {
  return [...before].flatMap(([table, columns]) => {
    const now = after.get(table);
    if (now === undefined) return [`${table} is gone`];
    const gone = [...columns.keys()].filter((column) => !now.has(column)).map((column) => `${table}.${column} is gone`);
    const added = [...now].filter(([column, isOptional]) => !columns.has(column) && !isOptional);
    return [...gone, ...added.map(([column]) => `${table}.${column} needs a value`)];
  });
}

/** A session that holds a lock on the accounts, as a long transaction does. */
async function holdAccounts(url: string): Promise<() => Promise<void>> {
  const { db } = onPostgres(url);
  const transaction = await db.startTransaction().execute();
  await sql`lock table accounts in row exclusive mode`.execute(transaction);
  return async () => {
    await transaction.rollback().execute();
  };
}

test('a migration that waits for a lock lets requests pass, and succeeds when the lock is free', { tags: 'outer' }, async () => {
  const url = await newDatabase();
  const { db } = onPostgres(url);
  await migrate(db, 'postgres', retryingLocks(), firstSchemaOf('postgres'));
  const release = await holdAccounts(url);
  const attempts = { begun: 0 };
  const migrating = migrate(db, 'postgres', counting(retryingLocks(), attempts), {
    ...firstSchemaOf('postgres'),
    '0002-added': adding('added'),
  });
  // The request waits behind the migration, which gives up before the request does.
  const other = onPostgres(url).db;
  while (attempts.begun < 3) await sql`select 1 from accounts limit 1`.execute(other);
  await release();
  await migrating;
  expect(await executed(db)).toEqual([FIRST_SCHEMA, '0002-added']);
});

/** Counts the attempts of each migration. */
function counting(run: RunMigration, attempts: { begun: number }): RunMigration {
  return (migration) =>
    run((locking) => {
      attempts.begun++;
      return migration(locking);
    });
}

/** The tests share a server, on which others wait for locks as well. */
const ofDatabase = sql`database = (select oid from pg_database where datname = current_database())`;

test(
  'later attempts of a migration wait longer, because a busy database may always have a transaction open',
  { tags: 'outer' },
  async () => {
    const url = await newDatabase();
    const { db } = onPostgres(url);
    await migrate(db, 'postgres', retryingLocks(), firstSchemaOf('postgres'));
    const release = await holdAccounts(url);
    const attempts = { begun: 0 };
    const withAddition = { ...firstSchemaOf('postgres'), '0002-added': adding('added') };
    const migrating = migrate(db, 'postgres', counting(retryingLocks(), attempts), withAddition);
    const { db: watching } = onPostgres(url);
    // The first attempts give up before.
    for (let waited = 0; waited < 0.7;) {
      const { rows } = await sql<{ waited: number }>`
      select extract(epoch from clock_timestamp() - waitstart)::float8 as waited from pg_locks where not granted and ${ofDatabase}`.execute(
        watching,
      );
      waited = rows[0]?.waited ?? 0;
    }
    await release();
    await migrating;
    expect(attempts.begun).toBeGreaterThan(10);
    expect(await executed(db)).toEqual(Object.keys(withAddition));
  },
);

test(
  'later attempts of a migration begin between the transactions of a service that locks its tables in another order',
  { tags: 'outer' },
  async () => {
    const url = await newDatabase();
    const store = await openPostgresStore(url);
    onTestFinished(() => store.close());
    const { db } = onPostgres(url);
    const { db: watching } = onPostgres(url);
    const state = { isMigrated: false };
    /** So long that PostgreSQL, which ends a deadlock by the one that has waited longest, ends the migration. */
    async function migrationWaits(): Promise<boolean> {
      const waiting = sql`
      select 1 from pg_locks where not granted and waitstart < clock_timestamp() - interval '0.2 seconds' and ${ofDatabase}`;
      return (await waiting.execute(watching)).rows.length > 0;
    }
    /** Each transaction holds the last table of the migration when it needs the first one. */
    async function serve(): Promise<void> {
      while (!state.isMigrated)
        await store.commit(async (transaction) => {
          await sql`lock table settings in row exclusive mode`.execute(transaction.db);
          while (!state.isMigrated && !(await migrationWaits()));
          await sql`lock table accounts in row exclusive mode`.execute(transaction.db);
        });
    }
    const serving = serve();
    const bothTables = running('alter table accounts add column added integer', 'alter table settings add column added integer');
    const later = { ...migrationsOf('postgres'), '9999-later': bothTables };
    await migrate(db, 'postgres', retryingLocks(), later).finally(() => (state.isMigrated = true));
    await serving;
    expect(await executed(db)).toEqual(Object.keys(later));
  },
);

test('a migration that never gets its lock ends the start, and names itself', { tags: 'outer' }, async () => {
  const url = await newDatabase();
  const { db, run } = onPostgres(url, 1);
  await migrate(db, 'postgres', run, firstSchemaOf('postgres'));
  const release = await holdAccounts(url);
  const withAddition = { ...firstSchemaOf('postgres'), '0002-added': adding('added') };
  await expect(migrate(db, 'postgres', run, withAddition)).rejects.toThrow(
    /: 0002-added failed \(canceling statement due to lock timeout\)\./,
  );
  await release();
  await migrate(db, 'postgres', run, withAddition);
  expect(await executed(db)).toEqual(Object.keys(withAddition));
});

test('instances that start at the same time run each migration once', { tags: 'outer' }, async () => {
  const url = await newDatabase();
  const added = { ...firstSchemaOf('postgres'), '0002-added': adding('added'), '0003-added': adding('later') };
  const starting = Array.from({ length: 4 }, () => onPostgres(url));
  await Promise.all(starting.map(({ db, run }) => migrate(db, 'postgres', run, added)));
  expect(await executed(onPostgres(url).db)).toEqual(Object.keys(added));
});
