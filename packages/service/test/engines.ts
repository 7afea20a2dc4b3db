/** The engines that a store test runs on, each with an empty store that ends with the test. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { Client } from 'pg';
import { inject, onTestFinished } from 'vitest';

import { openPostgresStore } from '../src/store/postgres/open.ts';
import { openSqliteStore } from '../src/store/sqlite/open.ts';
import type { Engine, Store } from '../src/store/store.ts';

export const engines: readonly Engine[] = ['sqlite', 'postgres'];

/** A place for a store: a directory, or a database. Opened more than once it is the same store. */
export interface StorePlace {
  readonly engine: Engine;
  open(): Promise<Store>;
}

/** A new and empty place for a store, gone when the test ends. */
export async function storePlace(engine: Engine): Promise<StorePlace> {
  const place = engine === 'sqlite' ? newDirectory() : await newDatabase();
  return {
    engine,
    async open() {
      const store = await (engine === 'sqlite' ? openSqliteStore(place) : openPostgresStore(place));
      onTestFinished(() => store.close());
      return store;
    },
  };
}

function newDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'store-test-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** Connection string of a new and empty database. */
export async function newDatabase(): Promise<string> {
  const server = inject('postgresUrl');
  const name = `test_${process.pid}_${Math.random().toString(36).slice(2)}`;
  await administer(server, `create database ${name}`);
  onTestFinished(() => administer(server, `drop database if exists ${name} with (force)`));
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.href;
}

async function administer(server: string, statement: string): Promise<void> {
  const client = new Client({ connectionString: server });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
