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
  try {
    const connection = openDatabase(file);
    try {
      assertVersion(connection);
      const tables = tablesOf(connection);
      const close = () => {
        connection.close();
        lock.close();
      };
      return { tables, rows: (table) => rowsOf(connection, table, tables.get(table) ?? []), close };
    } catch (error) {
      connection.close();
      throw error;
    }
  } catch (error) {
    lock.close();
    throw error;
  }
}

/** @throws StoreOpenError when the file is not a database, or not the database of a service. */
function openDatabase(file: string): DatabaseSync {
  let connection: DatabaseSync | undefined;
  try {
    connection = new DatabaseSync(file, { readOnly: true });
    connection.prepare('select name from kysely_migration').all();
    return connection;
  } catch (error) {
    connection?.close();
    const reason = error instanceof Error ? error.message : String(error);
    throw new StoreOpenError(
      `The file ${file} cannot be read as the embedded store of a service (${reason}). Restore it from a backup, or name the data directory of another service.`,
      { cause: error },
    );
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

const UTF_8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Text is read as bytes: read as text, bytes that are not UTF-8 would be replaced without a word. A blob would look the same, so it is read as text. */
function* rowsOf(connection: DatabaseSync, table: string, columns: readonly string[]): Iterable<Row> {
  const read = columns.map(
    (column) =>
      `case typeof("${column}") when 'text' then cast("${column}" as blob) when 'blob' then 'blob' else "${column}" end as "${column}"`,
  );
  const statement = connection.prepare(`select ${read.join(', ')} from "${table}"`);
  statement.setReadBigInts(true);
  for (const row of statement.iterate()) {
    yield Object.fromEntries(Object.entries(row).map(([column, value]) => [column, valueOf(value, `${table}.${column}`)]));
  }
}

function valueOf(value: unknown, where: string): Value {
  if (value === null || typeof value === 'bigint') return value;
  if (!(value instanceof Uint8Array)) throw new TypeError(`The embedded store holds in ${where} what is neither text nor an integer.`);
  try {
    return UTF_8.decode(value);
  } catch (error) {
    throw new TypeError(
      `The embedded store holds a text in ${where} that is not valid UTF-8, so it cannot be copied unchanged. Correct it, or restore the store from a backup.`,
      { cause: error },
    );
  }
}
