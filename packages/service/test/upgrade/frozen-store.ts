/**
 * The store of an earlier version as SQL: its tables for each engine, and rows that are the same on both. It stays as it is, however the
 * schema changes later.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

import { Kysely, PostgresDialect, sql } from 'kysely';
import { Client } from 'pg';

import type { Store } from '../../src/index.ts';
import { migrate } from '../../src/store/migrate.ts';
import { migrationConnectionsFor } from '../../src/store/postgres/connections.ts';
import type { Schema } from '../../src/store/schema.ts';
import type { Db } from '../../src/store/store.ts';
import { newDatabase, newDirectory } from '../engines.ts';
import type { Engine } from '../engines.ts';
import type { Owner } from '../good-calls.ts';

const FOLDER = join(import.meta.dirname, 'first-schema');
const path = (name: string) => join(FOLDER, name);

/** A new directory or database with the frozen store. It is removed when the test ends. */
export async function thawed(engine: Engine): Promise<string> {
  const script = `${readFileSync(path(`${engine}.sql`), 'utf8')}\n${readFileSync(path('rows.sql'), 'utf8')}`;
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
  writeFileSync(path('reads.json'), `${JSON.stringify(reads)}\n`);
}

/** Writes the frozen files of a store of this version. For a new release, into a new folder: the old files must stay. */
export async function freeze(store: Store): Promise<void> {
  const { months, inserts } = await store.read(async (db) => ({
    months: await db.selectFrom('request_log').select('month').distinct().execute(),
    inserts: await insertsOf(db),
  }));
  const { rows: tables } = await store.read((db) =>
    sql<{ sql: string }>`select sql from sqlite_master where sql is not null order by rowid`.execute(db),
  );
  writeFileSync(path('sqlite.sql'), script(tables.map((table) => table.sql)));
  const partitions = months.map(({ month }) => `create table request_log_${month} partition of request_log for values in (${month})`);
  writeFileSync(path('postgres.sql'), script([...(await postgresTables()), ...partitions]));
  writeFileSync(path('rows.sql'), script(inserts));
}

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

async function insertsOf(db: Db): Promise<readonly string[]> {
  const inserts: string[] = [];
  for (const table of await tablesInOrder(db)) {
    // Triggers insert these rows.
    if (table === 'catalogue_version' || table === 'zone_changes' || table === 'rdns_changes') continue;
    const { rows } = await sql<Record<string, string | number | null>>`select * from ${sql.table(table)}`.execute(db);
    for (const row of rows) {
      const values = Object.values(row).map((value) => (typeof value === 'string' ? `'${value.replaceAll("'", "''")}'` : String(value)));
      inserts.push(`insert into ${table} (${Object.keys(row).join(', ')}) values (${values.join(', ')})`);
    }
  }
  return inserts;
}

/** The statements with which the migrations create the tables on PostgreSQL. */
async function postgresTables(): Promise<readonly string[]> {
  const statements: string[] = [];
  const db = new Kysely<Schema>({
    dialect: new PostgresDialect({ pool: migrationConnectionsFor(await newDatabase()) }),
    log: ({ query }) => void statements.push(query.sql.trim()),
  });
  await migrate(db, 'postgres', (migration) => migration());
  await db.destroy();
  return statements.filter((statement) => statement.startsWith('create '));
}
