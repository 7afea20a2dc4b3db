/** The embedded store that is moved: locked, and never written to. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

import { migrationsOf } from '../migrate.ts';
import { lockDirectory } from '../sqlite/open.ts';
import { StoreOpenError } from '../store.ts';
import type { Row, Value } from './figures.ts';

export interface Source {
  /** Columns by table. */
  readonly tables: ReadonlyMap<string, readonly string[]>;
  /** Every row of a table, as it is read. */
  rows(table: string): Iterable<Row>;
  close(): void;
}

/**
 * Opens an embedded store for reading, as long as no service runs on it.
 *
 * @throws StoreOpenError when there is none, a process has it, or another version of the service wrote it.
 */
export function openSource(directory: string): Source {
  const file = join(directory, 'store.sqlite');
  if (!existsSync(file)) {
    throw new StoreOpenError(`There is no embedded store in ${directory}. Name the data directory of the service that is to be moved.`);
  }
  const lock = lockDirectory(directory);
  const connection = new DatabaseSync(file, { readOnly: true });
  const close = () => {
    connection.close();
    lock.close();
  };
  try {
    assertVersion(connection);
    return { tables: tablesOf(connection), rows: (table) => rowsOf(connection, table), close };
  } catch (error) {
    close();
    throw error;
  }
}

function assertVersion(connection: DatabaseSync): void {
  const ran = names(connection, 'select name from kysely_migration order by name');
  const known = Object.keys(migrationsOf('sqlite'));
  if (ran.join() === known.join()) return;
  const isOlder = ran.every((name) => known.includes(name));
  throw new StoreOpenError(
    isOlder
      ? 'The embedded store was written by an older version. Start this version of the service on it once, stop it, then move the store.'
      : 'The embedded store was written by a newer version. Move it with that version of the service.',
  );
}

function tablesOf(connection: DatabaseSync): ReadonlyMap<string, readonly string[]> {
  const tables = names(connection, "select name from sqlite_master where type = 'table' and name not like 'kysely\\_%' escape '\\'");
  return new Map(tables.map((table) => [table, names(connection, 'select name from pragma_table_info(?)', table)]));
}

function names(connection: DatabaseSync, sql: string, ...parameters: string[]): string[] {
  return connection
    .prepare(sql)
    .all(...parameters)
    .map(({ name }) => String(name));
}

function* rowsOf(connection: DatabaseSync, table: string): Iterable<Row> {
  const statement = connection.prepare(`select * from "${table}"`);
  statement.setReadBigInts(true);
  for (const row of statement.iterate()) {
    yield Object.fromEntries(Object.entries(row).map(([column, value]) => [column, valueOf(value, `${table}.${column}`)]));
  }
}

function valueOf(value: unknown, where: string): Value {
  if (value === null || typeof value === 'string' || typeof value === 'bigint') return value;
  throw new TypeError(`The embedded store holds in ${where} what is neither text nor an integer.`);
}
