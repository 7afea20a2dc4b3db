/** A seeded store, made once for each process and copied for each service: seeding takes far longer than copying. */
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import {
  createAccount,
  DEMO_ACCOUNT,
  euros,
  issueApiKey,
  openSqliteStore,
  seedSandbox,
  simulatedPorts,
  systemRandom,
} from '@reseller/service';
import type { Store } from '@reseller/service';

/** The data that every copy holds. */
interface Snapshot {
  readonly directory: string;
  readonly apiKey: string;
}

const STORE = 'store.sqlite';
/** The seed is older than any service that starts from it. */
const SEEDED = Date.UTC(2026, 0, 1);

let snapshot: Promise<Snapshot> | undefined;

/** Directories that are still there when the process ends. */
const directories = new Set<string>();
process.once('exit', () => {
  for (const directory of directories) remove(directory);
});

/** A separate store with the sandbox's catalogue and demo account. */
export async function copySnapshot(): Promise<{ store: Store; apiKey: string; accountId: string; close(): Promise<void> }> {
  const { directory: from, apiKey } = await (snapshot ??= makeSnapshot());
  const directory = makeDirectory();
  copyFileSync(join(from, STORE), join(directory, STORE));
  const store = await openSqliteStore(directory);
  return {
    store,
    apiKey,
    accountId: DEMO_ACCOUNT,
    async close() {
      await store.close();
      remove(directory);
    },
  };
}

async function makeSnapshot(): Promise<Snapshot> {
  const directory = makeDirectory();
  const store = await openSqliteStore(directory);
  const ports = simulatedPorts({ clock: { now: () => SEEDED } });
  await seedSandbox(store, ports);
  const apiKey = await store.commit(({ db }) => issueApiKey(db, ports, DEMO_ACCOUNT, { label: 'test', mode: 'sandbox' }));
  // Closing writes the log ahead into the file, so that the file alone is the store.
  await store.close();
  return { directory, apiKey };
}

function makeDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'reseller-testing-'));
  directories.add(directory);
  return directory;
}

function remove(directory: string): void {
  rmSync(directory, { recursive: true, force: true });
  directories.delete(directory);
}

/** A further account in a store. */
export function addAccount(store: Store, now: number, creditLimit: string): Promise<{ id: string; apiKey: string }> {
  const ports = { clock: { now: () => now }, random: systemRandom };
  return store.commit(async ({ db }) => {
    const id = await createAccount(db, ports, { name: 'test', creditLimit: euros(creditLimit) });
    return { id, apiKey: await issueApiKey(db, ports, id, { label: 'test', mode: 'sandbox' }) };
  });
}
