/** A store for tests of deliveries, with the data of a sandbox but without a service. */
import { sql } from 'kysely';
import { onTestFinished, vi } from 'vitest';

import type { Store } from '../src/index.ts';
import { openStore } from './engines.ts';
import type { Engine } from './engines.ts';
import { seededPlace } from './prepared-store.ts';

/** Opens a store that is closed when the test ends. */
export async function seededStore(engine: Engine = 'sqlite'): Promise<Store> {
  const store = await openStore(engine, await seededPlace(engine));
  onTestFinished(() => store.close());
  return store;
}

/** A store that several instances share, with a database clock that the test sets. So a test can reach each bound of a lease exactly. */
export interface SharedStore {
  readonly store: Store;
  /** Sets the clock of the database, in milliseconds. */
  setTime(time: number): Promise<void>;
}

export async function sharedStore(): Promise<SharedStore> {
  const own = await seededStore();
  await own.commit(({ db }) => sql`create table test_clock (time integer not null)`.execute(db));
  await own.commit(({ db }) => sql`insert into test_clock values (0)`.execute(db));
  const now = sql<number>`(select time from test_clock)`;
  return {
    store: { ...own, sharing: { ...own.sharing, hasInstances: true, now } },
    async setTime(time) {
      await own.commit(({ db }) => sql`update test_clock set time = ${time}`.execute(db));
    },
  };
}

/** Lets the test set the time since the start of the process, in milliseconds. */
export function ownProcessTime(start = 1_000_000): { now: number } {
  const time = { now: start };
  vi.spyOn(performance, 'now').mockImplementation(() => time.now);
  return time;
}
