/**
 * The store of an earlier version as SQL: its tables for each engine, and rows that are the same on both. It stays as it is, however the
 * schema changes later.
 */
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

import { Kysely, PostgresDialect, sql } from 'kysely';
import { Client } from 'pg';

import type { Store } from '../../src/index.ts';
import { migrate } from '../../src/store/migrate.ts';
import { FIRST_SCHEMA, migrationsOf } from '../../src/store/migrations/all.ts';
import { migrationConnectionsFor } from '../../src/store/postgres/connections.ts';
import type { Schema } from '../../src/store/schema.ts';
import { atomically, kyselyOn } from '../../src/store/sqlite/open.ts';
import type { Db } from '../../src/store/store.ts';
import { newDatabase, newDirectory } from '../engines.ts';
import type { Engine } from '../engines.ts';
import type { Owner } from '../good-calls.ts';

const FOLDER = join(import.meta.dirname, 'first-schema');
const path = (name: string) => join(FOLDER, name);

/** A new directory or database with the frozen store. It is removed when the test ends. */
export async function thawed(engine: Engine): Promise<string> {
  // The rows that triggers have added are among the rows.
  const script = [`${engine}.sql`, 'rows.sql', `${engine}-triggers.sql`].map((name) => readFileSync(path(name), 'utf8')).join('\n');
  if (engine === 'sqlite') {
    const directory = newDirectory();
    const connection = new DatabaseSync(join(directory, 'store.sqlite'));
    connection.exec(script);
    connection.close();
    return directory;
  }
  const url = await newDatabase();
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query(script);
  await client.end();
  return url;
}

/** What the version of the frozen store showed of it. */
export interface FrozenReads {
  readonly owner: Owner;
  /** The responses by request. */
  readonly responses: Readonly<Record<string, unknown>>;
}

export function frozenReads(): FrozenReads {
  return JSON.parse(readFileSync(path('reads.json'), 'utf8'));
}

export function freezeReads(reads: FrozenReads): void {
  const rows = readFileSync(path('rows.sql'), 'utf8');
  // An identifier that the rows do not have, such as that of a noted event, is made when it is first read.
  const frozen = JSON.stringify(reads, (key, value: unknown) => (key === 'id' && !rows.includes(String(value)) ? undefined : value));
  writeFileSync(path('reads.json'), `${frozen}\n`);
}

/** Writes the frozen files: the tables of the first schema, and the rows of a store of this version without the columns of later migrations. */
export async function freeze(store: Store): Promise<void> {
  const tables = { sqlite: await sqliteTables(), postgres: await postgresTables() };
  const { months, inserts } = await store.read(async (db) => ({
    months: await db.selectFrom('request_log').select('month').distinct().execute(),
    inserts: await insertsOf(db),
  }));
  writeFileSync(path('rows.sql'), script(inserts));
  for (const engine of ['sqlite', 'postgres'] as const) {
    writeFileSync(path(`${engine}.sql`), script(tables[engine].filter((statement) => !OF_TRIGGER.test(statement))));
    writeFileSync(path(`${engine}-triggers.sql`), script(tables[engine].filter((statement) => OF_TRIGGER.test(statement))));
  }
  const partitions = months.map(({ month }) => `create table request_log_${month} partition of request_log for values in (${month})`);
  appendFileSync(path('postgres.sql'), script(partitions));
  appendFileSync(path('postgres-triggers.sql'), script([`select setval('request_log_feed', (select max(feed) from request_log))`]));
}

const OF_TRIGGER = /^create (?:trigger|function) /i;

const script = (statements: readonly string[]) => `${statements.join(';\n')};\n`;

/** The names of the tables, each after those that it refers to. */
async function tablesInOrder(db: Db): Promise<readonly string[]> {
  const names = (await db.introspection.getTables()).map(({ name }) => name);
  const { rows } = await sql<{ name: string; refers: string }>`
    select tables.name, keys."table" as refers from sqlite_master as tables, pragma_foreign_key_list(tables.name) as keys
    where tables.type = 'table'`.execute(db);
  const ordered: string[] = [];
  const place = (name: string): void => {
    if (ordered.includes(name)) return;
    for (const { refers } of rows.filter((key) => key.name === name && key.refers !== name)) place(refers);
    ordered.push(name);
  };
  for (const name of ['kysely_migration', 'kysely_migration_lock', ...names]) place(name);
  return ordered;
}

/** Tables whose rows get their numbers from the database. */
const NUMBERED: ReadonlySet<string> = new Set(['rdns_changes', 'event_inbox']);

async function insertsOf(db: Db): Promise<readonly string[]> {
  const known = await columnsOfFirstSchema();
  const inserts: string[] = [];
  for (const table of await tablesInOrder(db)) {
    const { rows } = await sql<Record<string, string | number | null>>`select * from ${sql.table(table)}`.execute(db);
    for (const row of rows) {
      if (table === 'kysely_migration' && row['name'] !== FIRST_SCHEMA) continue;
      const values = Object.entries(row).filter(
        ([column]) => known.get(table)?.has(column) === true && !(column === 'id' && NUMBERED.has(table)),
      );
      const texts = values.map(([, value]) => (typeof value === 'string' ? `'${value.replaceAll("'", "''")}'` : String(value)));
      inserts.push(`insert into ${table} (${values.map(([column]) => column).join(', ')}) values (${texts.join(', ')})`);
    }
  }
  return inserts;
}

async function firstSchemaOnSqlite(): Promise<Db> {
  const connection = new DatabaseSync(':memory:');
  const db = kyselyOn(connection);
  await migrate(db, 'sqlite', atomically(connection), firstSchemaOf('sqlite'));
  return db;
}

async function columnsOfFirstSchema(): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const db = await firstSchemaOnSqlite();
  const { rows } = await sql<{ name: string; column: string }>`
    select tables.name, columns.name as column from sqlite_master as tables, pragma_table_info(tables.name) as columns`.execute(db);
  const columns = Map.groupBy(rows, ({ name }) => name);
  return new Map([...columns].map(([name, found]) => [name, new Set(found.map(({ column }) => column))]));
}

/** The first schema, as the migrations of a version that has no other. */
export function firstSchemaOf(engine: Engine) {
  return { [FIRST_SCHEMA]: migrationsOf(engine)[FIRST_SCHEMA] };
}

async function sqliteTables(): Promise<readonly string[]> {
  const db = await firstSchemaOnSqlite();
  const { rows } = await sql<{ sql: string }>`select sql from sqlite_master where sql is not null order by rowid`.execute(db);
  return rows.map((table) => table.sql);
}

/** The statements with which the first migration creates the tables on PostgreSQL. */
async function postgresTables(): Promise<readonly string[]> {
  const statements: string[] = [];
  const db = new Kysely<Schema>({
    dialect: new PostgresDialect({ pool: migrationConnectionsFor(await newDatabase()) }),
    log: ({ query }) => void statements.push(query.sql.trim()),
  });
  await migrate(db, 'postgres', (migration) => migration(), firstSchemaOf('postgres'));
  await db.destroy();
  return statements.filter((statement) => statement.startsWith('create '));
}
