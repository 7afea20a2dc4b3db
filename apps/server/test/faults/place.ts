/** The store of a fault test on either engine, with access from outside the service. */
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

import { openPostgresStore, openSqliteStore } from '@reseller/service';
import type { Store } from '@reseller/service';
import { sandboxDatabase } from '@reseller/service/test/prepared-store.ts';
import { Client } from 'pg';
import { expect, vi } from 'vitest';

import { temporaryDirectory } from '../process.ts';
import { OPERATOR_TOKEN, SECRET } from './provider.ts';

export type Engine = 'sqlite' | 'postgres';

/** A place for the store of one test, removed when the test ends. */
export interface Place {
  readonly engine: Engine;
  /** Environment variables for another instance on this store. */
  environment(): Readonly<Record<string, string>>;
  /** Opens the store. No request may be in progress. */
  examine<T>(work: (store: Store) => Promise<T>): Promise<T>;
  /** Repeats a check of the store until it passes. Requests may be in progress. */
  waitFor(check: (store: Store) => Promise<void>): Promise<void>;
  /** Runs the engine's own check of every table and index. */
  expectIntegrity(): Promise<void>;
}

/** In milliseconds. Interrupted purchases are undone within the timeout. */
const WAIT = { timeout: 300_000, interval: 250 };
const COMMON = { RESELLER_SECRET: SECRET, RESELLER_OPERATOR_TOKEN: OPERATOR_TOKEN };

export async function newPlace(engine: Engine): Promise<Place> {
  return engine === 'sqlite' ? sqlitePlace(temporaryDirectory()) : postgresPlace(await sandboxDatabase());
}

/** The embedded store of a data directory. Tests read a copy, because the directory belongs to one process. */
export function sqlitePlace(directory: string): Place {
  const examine: Place['examine'] = (work) => inCopyOf(directory, async (copy) => closing(await openSqliteStore(copy), work));
  return {
    engine: 'sqlite',
    environment: () => ({ ...COMMON, RESELLER_DATA_DIR: directory }),
    examine,
    waitFor: (check) => vi.waitFor(() => examine(check), WAIT),
    async expectIntegrity() {
      await inCopyOf(directory, async (copy) => {
        const connection = new DatabaseSync(join(copy, 'store.sqlite'));
        try {
          expect(connection.prepare('pragma integrity_check').all()).toEqual([{ integrity_check: 'ok' }]);
          expect(connection.prepare('pragma foreign_key_check').all()).toEqual([]);
        } finally {
          connection.close();
        }
      });
    },
  };
}

/**
 * @param instanceUrl The URL that instances use instead of `url`, for example that of a proxy.
 */
export function postgresPlace(url: string, instanceUrl = url): Place {
  const examine: Place['examine'] = async (work) => closing(await openPostgresStore(url), work);
  return {
    engine: 'postgres',
    environment: () => ({ ...COMMON, DATABASE_URL: instanceUrl }),
    examine,
    // Opening the store takes much longer than the check.
    waitFor: (check) => examine((store) => vi.waitFor(() => check(store), WAIT)),
    expectIntegrity: () => expectPostgresIntegrity(url),
  };
}

async function closing<T>(store: Store, work: (store: Store) => Promise<T>): Promise<T> {
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

async function inCopyOf<T>(directory: string, work: (copy: string) => Promise<T>): Promise<T> {
  const copy = mkdtempSync(join(tmpdir(), 'examined-'));
  try {
    cpSync(directory, copy, { recursive: true });
    return await work(copy);
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

/** Checks every row and index entry with PostgreSQL's amcheck, or reads every row if amcheck is not installed. */
async function expectPostgresIntegrity(url: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    const { rows: available } = await client.query(`select 1 from pg_available_extensions where name = 'amcheck'`);
    const { rows: tables } = await client.query<{ name: string }>(
      `select oid::regclass::text as name from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace`,
    );
    expect(tables.length).toBeGreaterThan(10);
    if (available.length === 0) {
      for (const { name } of tables) await client.query(`select count(row.*) from ${name} as row`);
      return;
    }
    await client.query('create extension if not exists amcheck');
    for (const { name } of tables) expect((await client.query(`select * from verify_heapam('${name}')`)).rows).toEqual([]);
    await client.query(`
      select bt_index_check(index.indexrelid, heapallindexed => true)
      from pg_index as index join pg_class as class on class.oid = index.indexrelid join pg_am as am on am.oid = class.relam
      where class.relkind = 'i' and am.amname = 'btree' and class.relnamespace = 'public'::regnamespace`);
  } finally {
    await client.end();
  }
}
