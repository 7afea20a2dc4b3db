/** Caches of settings and keys, while the store changes during a read. */
import { expect, test } from 'vitest';

import { holdFirst } from '../../../test/hold-first.ts';
import { TestClock } from '../../../test/ports/clock.ts';
import { seededStore } from '../../../test/shared-store.ts';
import { createAccount, issueApiKey } from '../../index.ts';
import { simulatedPorts } from '../../ports/simulated.ts';
import { offsetClock } from '../../ports/system.ts';
import type { Db, Store } from '../../store/store.ts';
import { createAuthenticator } from '../reseller/authenticate.ts';
import { createControls } from '../reseller/controls.ts';

/** A store whose first read ends after `release`. */
async function heldStore() {
  const store = await seededStore();
  const read = holdFirst(async (work: (db: Db) => Promise<unknown>) => store.read(work));
  const held: Store = {
    ...store,
    async read<T>(work: (db: Db) => Promise<T>): Promise<T> {
      let result: { readonly value: T } | undefined;
      await read.run(async (db) => {
        result = { value: await work(db) };
      });
      if (!result) throw new Error('The read has no result.');
      return result.value;
    },
  };
  return { store, held, read };
}

test('a key that is revoked while it is looked up is refused by the next request', async () => {
  const { store, held, read } = await heldStore();
  const ports = simulatedPorts({ clock: new TestClock() });
  const apiKey = await store.commit(async ({ db }) => {
    const accountId = await createAccount(db, ports, { name: 'caches', creditLimit: 0n });
    return issueApiKey(db, ports, accountId, { label: 'caches', mode: 'sandbox' });
  });
  const authenticator = createAuthenticator(held, { mode: 'sandbox', clock: ports.clock, onFailure: () => {} });
  const first = authenticator.authenticate(apiKey, '127.0.0.1');
  await read.done;
  await store.commit(({ db }) => db.updateTable('api_keys').set({ revoked: ports.clock.now() }).execute());
  authenticator.forget();
  read.release();
  await first;
  await expect(authenticator.authenticate(apiKey, '127.0.0.1')).rejects.toMatchObject({ status: 401 });
});

test('a read of the settings that began before the clock was advanced does not turn it back', async () => {
  const { held, read } = await heldStore();
  const clock = offsetClock(new TestClock(), 0);
  const controls = createControls(held, clock, 'sandbox');
  const refreshing = controls.refresh();
  await read.done;
  clock.setOffset(5_000);
  controls.forget();
  read.release();
  await refreshing;
  expect(clock.offset).toBe(5_000);
});
