/** The embedded store that is moved. It is locked and only read. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

import { errorText } from '@reseller/contract/is-error';

import { assertReleased } from '../migrate.ts';
import { migrationsOf } from '../migrations/all.ts';
import { kyselyOn, lockDirectory } from '../sqlite/open.ts';
import { StoreOpenError } from '../store.ts';
import type { MovedRow, Value } from './figures.ts';

export interface Source {
  /** Columns by table. */
  readonly tables: ReadonlyMap<string, readonly string[]>;
  /** All rows of a table, read one at a time. */
  rows(table: string): Iterable<MovedRow>;
  close(): void;
}

/**
 * Opens an embedded store for reading.
 *
 * @throws StoreOpenError if the store does not exist, a process uses it, or another version of the service wrote it.
 */
export async function openSource(directory: string): Promise<Source> {
  const file = join(directory, 'store.sqlite');
  if (!existsSync(file)) {
    throw new StoreOpenError(`There is no embedded store in ${directory}. Name the data directory of the service to move.`);
  }
  const lock = lockDirectory(directory);
  try {
    const connection = openDatabase(file);
    try {
      await assertVersion(connection);
      const tables = columnsByTable(connection);
      function close() {
        connection.close();
        lock.close();
      }
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

/** @throws StoreOpenError if the file is not a database, or not the database of a service. */
function openDatabase(file: string): DatabaseSync {
  let connection: DatabaseSync | undefined;
  try {
    connection = new DatabaseSync(file, { readOnly: true });
    connection.prepare('select name from kysely_migration').all();
    return connection;
  } catch (error) {
    connection?.close();
    const reason = errorText(error);
    throw new StoreOpenError(
      `The file ${file} cannot be read as the embedded store of a service (${reason}). Restore it from a backup, or name the data directory of another service.`,
      { cause: error },
    );
  }
}

async function assertVersion(connection: DatabaseSync): Promise<void> {
  await assertReleased(kyselyOn(connection), 'sqlite');
  const executed = selectNames(connection, 'select name from kysely_migration order by name');
  const known = Object.keys(migrationsOf('sqlite'));
  if (executed.join() === known.join()) return;
  const isOlder = executed.every((name) => known.includes(name));
  throw new StoreOpenError(
    isOlder
      ? 'An older version wrote the embedded store. Start this version of the service on it once, stop it, then move the store.'
      : 'A newer version wrote the embedded store. Move it with that version of the service.',
  );
}

function columnsByTable(connection: DatabaseSync): ReadonlyMap<string, readonly string[]> {
  const tables = selectNames(
    connection,
    "select name from sqlite_master where type = 'table' and name not in ('catalogue_version', 'zone_changes', 'rdns_changes') and name not like 'kysely\\_%' escape '\\'",
  );
  return new Map(tables.map((table) => [table, selectNames(connection, 'select name from pragma_table_info(?)', table)]));
}

function selectNames(connection: DatabaseSync, sql: string, ...parameters: string[]): string[] {
  return connection
    .prepare(sql)
    .all(...parameters)
    .map(({ name }) => String(name));
}

const UTF_8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Reads text as bytes, because reading it as text would silently replace invalid UTF-8. A blob is read as the text 'blob', so that it is not mistaken for text. */
function* rowsOf(connection: DatabaseSync, table: string, columns: readonly string[]): Iterable<MovedRow> {
  const read = columns.map(
    (column) =>
      `case typeof("${column}") when 'text' then cast("${column}" as blob) when 'blob' then 'blob' else "${column}" end as "${column}"`,
  );
  const statement = connection.prepare(`select ${read.join(', ')} from "${table}"`);
  statement.setReadBigInts(true);
  for (const row of statement.iterate()) {
    yield Object.fromEntries(Object.entries(row).map(([column, value]) => [column, sqliteValueOf(value, `${table}.${column}`)]));
  }
}

function sqliteValueOf(value: unknown, where: string): Value {
  if (value === null || typeof value === 'bigint') return value;
  if (!(value instanceof Uint8Array))
    throw new TypeError(`The embedded store has a value in ${where} that is neither text nor an integer.`);
  try {
    return UTF_8.decode(value);
  } catch (error) {
    throw new TypeError(
      `The embedded store has a text in ${where} that is not valid UTF-8, so it cannot be copied unchanged. Correct it, or restore the store from a backup.`,
      { cause: error },
    );
  }
}
