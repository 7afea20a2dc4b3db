/** The engines that a store test runs on, each with an empty store that ends with the test. */
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import { inject } from 'vitest';

import { openPostgresStore } from '../src/store/postgres/open.ts';
import { openSqliteStore } from '../src/store/sqlite/open.ts';
import type { Engine, Store } from '../src/store/store.ts';
import type { Tuning } from '../src/store/tuning.ts';
import { administer, databaseUrl, dropDatabase } from './databases.ts';
import { whenEnded } from './lifetime.ts';

export type { Engine };
export { engines } from '../../../.config/rings.ts';

/** A place for a store: a directory, or a database. Opened more than once it is the same store. */
export interface StorePlace {
  readonly engine: Engine;
  open(): Promise<Store>;
}

/** A new and empty place for a store, removed when the test ends. */
export async function storePlace(engine: Engine, tuning: Partial<Tuning> = {}): Promise<StorePlace> {
  const place = engine === 'sqlite' ? newDirectory() : await newDatabase();
  return {
    engine,
    async open() {
      const store = await openStore(engine, place, tuning);
      whenEnded(() => store.close());
      return store;
    },
  };
}

/** Opens the store in a directory or a database. */
export function openStore(engine: Engine, place: string, tuning: Partial<Tuning> = {}): Promise<Store> {
  return engine === 'sqlite' ? openSqliteStore(place, { tuning }) : openPostgresStore(place, { tuning });
}

/** A new and empty directory, removed when the test ends. */
export function newDirectory(): string {
  const directory = mkdtempSync(join(inject('runFolder'), 'store-'));
  whenEnded(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** Connection string of the PostgreSQL server of this run. */
export function postgresServer(): string {
  const server = inject('postgresUrl');
  if (server === undefined)
    throw new Error('The inner ring has no PostgreSQL. Give the test the tag "outer", or name its file *.outer.test.ts.');
  return server;
}

/**
 * Connection string of a new database, dropped when the test ends.
 *
 * @param template Database to copy; an empty one by default.
 */
export async function newDatabase(template = 'template1'): Promise<string> {
  const server = postgresServer();
  const name = `test_${process.pid}_${Math.random().toString(36).slice(2)}`;
  // Copies the files. By default, PostgreSQL writes each page to its log, which takes more time.
  await administer(server, (client) => client.query(`create database ${name} template ${template} strategy file_copy`));
  whenEnded(() => dropDatabase(server, name));
  return databaseUrl(server, name);
}
