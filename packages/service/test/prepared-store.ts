/** Stores with the sandbox's data: prepared once per run and copied for each service, because a copy is much faster than migrations and seeds. */
import { copyFileSync, existsSync, linkSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

import { inject } from 'vitest';

import { openPostgresStore, openSqliteStore, seedDemoAccount, seedSandbox, simulatedPorts } from '../src/index.ts';
import type { Store } from '../src/index.ts';
import { administer, databaseUrl } from './databases.ts';
import { newDatabase, newDirectory, postgresServer } from './engines.ts';
import type { Engine } from './engines.ts';
import { START } from './ports/clock.ts';

const STORE_FILE = 'store.sqlite';
/** Any number: all processes of a run take the same advisory lock. */
const PREPARING_LOCK = 7_301_114;

/**
 * A new directory or database with the sandbox's data as of `START`. It is removed when the test ends.
 *
 * @param secret If given, the demo account has its resources, with credentials that are sealed with it.
 */
export function seededPlace(engine: Engine, secret?: string): Promise<string> {
  const fill = (store: Store) => seed(store, secret);
  if (engine === 'sqlite') return copyOfFile(secret === undefined ? 'prepared' : 'demo', fill);
  return copyOf(inject(secret === undefined ? 'preparedDatabase' : 'demoDatabase'), fill);
}

async function copyOfFile(name: string, fill: (store: Store) => Promise<void>): Promise<string> {
  const prepared = join(inject('runFolder'), `${name}-${STORE_FILE}`);
  if (!existsSync(prepared)) await prepareFile(prepared, fill);
  const directory = newDirectory();
  copyFileSync(prepared, join(directory, STORE_FILE));
  return directory;
}

/** Two processes may do this at the same time. The first to finish provides the file for all, complete from its first moment. */
async function prepareFile(prepared: string, fill: (store: Store) => Promise<void>): Promise<void> {
  const directory = mkdtempSync(join(inject('runFolder'), 'preparing-'));
  const file = join(directory, STORE_FILE);
  await fill(await openSqliteStore(directory));
  const database = new DatabaseSync(file);
  database.exec('vacuum');
  database.close();
  try {
    linkSync(file, prepared);
  } catch (error) {
    if (!existsSync(prepared)) throw error;
  }
  rmSync(directory, { recursive: true });
}

/** A new database with a whole sandbox, in which the first start of a server finds its tables and its data. */
export function sandboxDatabase(): Promise<string> {
  return copyOf(inject('sandboxDatabase'), async (store) => {
    await seedSandbox(store, simulatedPorts());
    await store.close();
  });
}

async function copyOf(name: string, fill: (store: Store) => Promise<void>): Promise<string> {
  await prepareDatabase(name, fill);
  return newDatabase(name);
}

const preparedNames = new Set<string>();

/** Processes wait for the one that prepares the database: it cannot be copied while it has connections. */
async function prepareDatabase(name: string, fill: (store: Store) => Promise<void>): Promise<void> {
  if (preparedNames.has(name)) return;
  const server = postgresServer();
  await administer(server, async (client) => {
    await client.query('select pg_advisory_lock($1)', [PREPARING_LOCK]);
    const { rowCount } = await client.query('select from pg_database where datname = $1', [name]);
    if (rowCount === 0) {
      const unfinished = `${name}_unfinished`;
      await client.query(`drop database if exists ${unfinished} with (force)`);
      await client.query(`create database ${unfinished}`);
      const url = databaseUrl(server, unfinished);
      await fill(await openPostgresStore(url));
      // Only the table from which `seed` deletes. PostgreSQL would take the others for empty, and keep plans that read them as a whole.
      await administer(url, (own) => own.query('vacuum full ip_addresses'));
      await client.query(`alter database ${unfinished} rename to ${name}`);
    }
  });
  preparedNames.add(name);
}

/** The addresses of each pool. A sandbox has thousands, which would take most of the time of a copy. */
const ADDRESSES = 256;

/** Fills a store and closes it. SQLite then has everything in one file, and PostgreSQL has no connection that would prevent a copy. */
async function seed(store: Store, secret?: string): Promise<void> {
  const ports = simulatedPorts({ clock: { now: () => START } });
  await seedSandbox(store, ports);
  if (secret !== undefined) await seedDemoAccount(store, { ports, secret });
  await store.commit(({ db }) => db.deleteFrom('ip_addresses').where('position', '>=', ADDRESSES).where('vm_id', 'is', null).execute());
  await store.close();
}
