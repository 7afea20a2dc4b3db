import { sql } from 'kysely';
import { expect, test } from 'vitest';

import { storePlace } from '../../test/engines.ts';
import { inBackground } from './background.ts';
import type { Db } from './store.ts';

const TRANSACTIONS = 9;

test.each([1, 2, 4, 8])('at most %i transactions next to requests have a connection, and no request waits for them', async (places) => {
  const store = await (await storePlace('postgres', { connections: TRANSACTIONS, backgroundConnections: places })).open();
  const background = inBackground(store);
  const mayEnd = Promise.withResolvers<void>();
  const running = { now: 0, most: 0 };
  const work = async (db: Db) => {
    await sql`select 1`.execute(db);
    running.most = Math.max(running.most, ++running.now);
    await mayEnd.promise;
    running.now--;
  };
  const begun = Array.from({ length: TRANSACTIONS }, (_, index) => {
    if (index % 3 === 0) return background.read(work);
    return index % 3 === 1 ? background.readLong(work) : background.commit(({ db }) => work(db));
  });
  await expect.poll(() => running.now).toBe(places);
  await store.read((db) => sql`select 1`.execute(db));
  mayEnd.resolve();
  await Promise.all(begun);
  expect(running).toEqual({ now: 0, most: places });
});

test('a transaction next to requests that fails leaves its place to the next one', async () => {
  const store = await (await storePlace('postgres', { backgroundConnections: 1 })).open();
  const background = inBackground(store);
  await expect(background.commit(({ db }) => sql`select 1 / 0`.execute(db))).rejects.toThrow('division by zero');
  const { rows } = await background.read((db) => sql`select 1 as one`.execute(db));
  expect(rows).toEqual([{ one: 1 }]);
});
