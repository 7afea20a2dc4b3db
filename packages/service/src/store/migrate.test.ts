import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

import { Client } from 'pg';
import { describe, expect, test } from 'vitest';

import { engines, newDatabase, newDirectory } from '../../test/engines.ts';
import { migrationsOf } from './migrations/all.ts';
import { moveStore } from './move/move.ts';
import { openPostgresStore } from './postgres/open.ts';
import { openSqliteStore } from './sqlite/open.ts';
import type { Engine, Store } from './store.ts';

/** A store that the test can also open and change without the service. */
interface Place {
  readonly path: string;
  open(): Promise<Store>;
  /** Runs SQL and returns the names of the tables afterwards. */
  run(statements: string): Promise<readonly string[]>;
}

async function newPlace(engine: Engine): Promise<Place> {
  return engine === 'sqlite' ? newDirectoryPlace() : newDatabasePlace();
}

function newDirectoryPlace(): Place {
  const path = newDirectory();
  return {
    path,
    open: () => openSqliteStore(path),
    async run(statements) {
      const connection = new DatabaseSync(join(path, 'store.sqlite'));
      try {
        connection.exec(statements);
        const tables = connection.prepare("select name from sqlite_master where type = 'table' order by name").all();
        return tables.map(({ name }) => String(name));
      } finally {
        connection.close();
      }
    },
  };
}

async function newDatabasePlace(): Promise<Place> {
  const path = await newDatabase();
  return {
    path,
    open: () => openPostgresStore(path),
    async run(statements) {
      const client = new Client({ connectionString: path });
      await client.connect();
      try {
        await client.query(statements);
        const { rows } = await client.query<{ name: string }>(
          'select table_name as name from information_schema.tables where table_schema = current_schema() order by 1',
        );
        return rows.map(({ name }) => name);
      } finally {
        await client.end();
      }
    },
  };
}

const INSERT = 'insert into kysely_migration (name, timestamp) values';

/** The migrations of development versions, from the first to the last. */
const DEVELOPMENT = [
  `${INSERT} ('0001-initial', '')`,
  `${INSERT} ('0001-initial', ''), ('0002-charges', '')`,
  `${INSERT} ('0001-initial', ''), ('0008-vat-by-rate', ''), ('0009-documents-by-time', '')`,
];

const DEVELOPMENT_TABLES = `
  create table kysely_migration (name varchar(255) primary key not null, timestamp varchar(255) not null);
  create table kysely_migration_lock (id varchar(255) primary key not null, is_locked integer default 0 not null);
  create table accounts (id text primary key not null);
  insert into accounts values ('kept');
`;

describe.each(engines)('on %s', (engine) => {
  test.each(DEVELOPMENT)('refuses a store of a development version and leaves it unchanged: %s', async (migrations) => {
    const place = await newPlace(engine);
    const before = await place.run(`${DEVELOPMENT_TABLES} ${migrations}`);
    const remedy =
      engine === 'sqlite' ? 'Delete the data directory, or name another one.' : 'Create a new database, and name it in DATABASE_URL.';
    const message = `A development version from before the first release wrote the store, and its data cannot be converted. ${remedy}`;
    // A second attempt has the same result, because the first one has released its files and connections.
    for (let attempt = 0; attempt < 2; attempt++) await expect(place.open()).rejects.toMatchObject({ name: 'StoreOpenError', message });
    expect(await place.run('')).toEqual(before);
  });

  test('refuses a store of a newer version', async () => {
    const place = await newPlace(engine);
    await (await place.open()).close();
    await place.run(`${INSERT} ('9999-later', '')`);
    await expect(place.open()).rejects.toThrow(
      `A newer version of the service wrote the store: it has the migration 9999-later. Start that version; this one knows ${Object.keys(migrationsOf(engine)).at(-1)}.`,
    );
  });

  test('a migration that fails leaves no tables behind, and succeeds at the next start', async () => {
    const place = await newPlace(engine);
    // The last of the tables exists already, so everything before it is created first.
    await place.run('create table snapshot_rows (a integer)');
    await expect(place.open()).rejects.toThrow(
      /^The tables of the store could not be brought up to date: 0001-tables failed \(.*snapshot_rows.* already exists\)\. It changed nothing\./,
    );
    expect((await place.run('')).filter((name) => !name.startsWith('kysely_'))).toEqual(['snapshot_rows']);
    await place.run('drop table snapshot_rows');
    await (await place.open()).close();
    expect(await place.run('')).toContain('accounts');
  });
});

test('a move refuses an embedded store of a development version', { tags: 'outer' }, async () => {
  const place = newDirectoryPlace();
  await place.run(`${DEVELOPMENT_TABLES} ${DEVELOPMENT[2]}`);
  await expect(moveStore({ from: place.path, to: await newDatabase() })).rejects.toThrow(
    /^A development version from before the first release/,
  );
});
