import { sql } from 'kysely';
import { expect, onTestFinished, test } from 'vitest';

import { newDatabase } from '../../../test/engines.ts';
import { StoreUnavailableError } from '../store.ts';
import type { Db, Store } from '../store.ts';
import { openPostgresStore } from './open.ts';

const SESSIONS = 5;

async function open(url: string): Promise<Store> {
  const store = await openPostgresStore(url);
  onTestFinished(() => store.close());
  return store;
}

const write = ({ db }: { db: Db }) => sql`delete from event_windows`.execute(db);

test('fails once on a session that becomes read-only, and closes it with all older sessions', async () => {
  const store = await open(await newDatabase());
  // Like a proxy between the service and its database in a failover.
  const begun: PromiseWithResolvers<void>[] = Array.from({ length: SESSIONS }, () => Promise.withResolvers<void>());
  await Promise.all(
    begun.map((own) =>
      store.commit(async ({ db }) => {
        await sql`set default_transaction_read_only = on`.execute(db);
        own.resolve();
        // All queries run concurrently, so that each has its own session.
        await Promise.all(begun.map(({ promise }) => promise));
      }),
    ),
  );
  await expect(store.commit(write)).rejects.toThrow(StoreUnavailableError);
  for (let number = 0; number < 2 * SESSIONS; number++) await store.commit(write);
  await Promise.all(Array.from({ length: SESSIONS }, () => store.commit(write)));
});

test('refuses to open a database that accepts no writes, with the reason', async () => {
  const url = await newDatabase();
  await open(url);
  const name = new URL(url).pathname.slice(1);
  const admin = await open(await newDatabase());
  await admin.read((db) => sql`alter database ${sql.ref(name)} set default_transaction_read_only = on`.execute(db));
  await expect(openPostgresStore(url)).rejects.toThrow(
    /accepts no writes, so it is a standby or set to read-only\. Name its primary in DATABASE_URL/,
  );
});

test('uses the next host if the first cannot be reached', async () => {
  const url = await newDatabase();
  const { host } = new URL(url);
  const store = await open(url.replace(host, `127.0.0.1:1,${host}`));
  await expect(store.commit(write)).resolves.toBeDefined();
});
