/** Where simulations keep their stores: what they test is not the disk, so nothing waits for it. */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { Client } from 'pg';
import { onTestFinished } from 'vitest';

import { openSqliteStore } from '../../src/index.ts';
import { openPostgresStore } from '../../src/store/postgres/open.ts';
import { newDatabase } from '../engines.ts';
import type { Engine } from '../../src/store/store.ts';
import type { StorePlace } from '../engines.ts';

/** Memory as a file system, where there is one. */
const MEMORY = '/dev/shm';

/** A new and empty place for a store, gone when the test ends. */
export async function simulatedPlace(engine: Engine): Promise<StorePlace> {
  const at = engine === 'sqlite' ? newDirectory() : await newFastDatabase();
  return {
    engine,
    async open() {
      const store = await (engine === 'sqlite' ? openSqliteStore(at) : openPostgresStore(at));
      onTestFinished(() => store.close());
      return store;
    },
  };
}

function newDirectory(): string {
  const directory = mkdtempSync(join(existsSync(MEMORY) ? MEMORY : tmpdir(), 'simulator-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

async function newFastDatabase(): Promise<string> {
  const url = await newDatabase();
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query(`alter database ${new URL(url).pathname.slice(1)} set synchronous_commit = off`);
  await client.end();
  return url;
}
