/** Opens the store that the configuration names. */
import { setTimeout as wait } from 'node:timers/promises';

import { openPostgresStore, openSqliteStore, StoreUnreachableError } from '@reseller/service';
import type { Store } from '@reseller/service';

import type { Configuration } from './configuration.ts';

type StoreConfiguration = Pick<Configuration, 'databaseUrl' | 'dataDirectory'>;
type SqliteOptions = Parameters<typeof openSqliteStore>[1];

/** @throws StoreOpenError if the store cannot be opened. */
export function openStore({ databaseUrl, dataDirectory }: StoreConfiguration, options?: SqliteOptions): Promise<Store> {
  return databaseUrl === undefined ? openSqliteStore(dataDirectory, options) : openPostgresStore(databaseUrl);
}

/** How a start waits for its database, in milliseconds. */
export interface DatabaseWait {
  /** Between two attempts. */
  readonly pauseMs: number;
  /** Between two notes. */
  readonly noteEveryMs: number;
  /** Called with the reason of the wait, in one line. */
  note(line: string): void;
}

const DATABASE_WAIT: DatabaseWait = {
  pauseMs: 1_000,
  noteEveryMs: 60_000,
  note: (line) => void process.stderr.write(`${line}\n`),
};

/**
 * Opens the store. A database that cannot be reached is tried again without an end, because it may start later than this machine. A supervisor
 * that gives up earlier ends the process.
 *
 * @throws StoreOpenError if the store cannot be opened for another reason.
 */
export async function openStoreWhenReachable<T>(open: () => Promise<T>, { pauseMs, noteEveryMs, note } = DATABASE_WAIT): Promise<T> {
  let nextNote = -Infinity;
  for (;;) {
    try {
      return await open();
    } catch (error) {
      if (!(error instanceof StoreUnreachableError)) throw error;
      if (performance.now() >= nextNote) {
        note(`${error.message} The service waits for it, and tries again every second.`);
        nextNote = performance.now() + noteEveryMs;
      }
    }
    await wait(pauseMs);
  }
}
