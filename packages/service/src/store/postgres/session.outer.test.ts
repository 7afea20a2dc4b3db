import { sql } from 'kysely';
import { expect, onTestFinished, test } from 'vitest';

import { newDatabase } from '../../../test/engines.ts';
import type { Db, Store } from '../store.ts';
import { openPostgresStore } from './open.ts';

async function open(url: string): Promise<Store> {
  const store = await openPostgresStore(url);
  onTestFinished(() => store.close());
  return store;
}

const settings = (db: Db) => db.selectFrom('settings').selectAll().execute();

test('commits a transaction that takes longer than the idle timeout of a connection', { tags: 'deep' }, async () => {
  const store = await open(await newDatabase());
  const slow = store.commit(async ({ db }) => {
    for (let statement = 0; statement < 2; statement++) await sql`select pg_sleep(7)`.execute(db);
    await db.insertInto('settings').values({ name: 'rate_limit', value: 'null' }).execute();
  });
  await expect(slow).resolves.toBeUndefined();
});

test('a transaction that goes on after a failed statement fails, because the database rolls it back', async () => {
  const store = await open(await newDatabase());
  const committing = store.commit(async ({ db }) => {
    await db.insertInto('settings').values({ name: 'rate_limit', value: 'null' }).execute();
    await sql`select 1 / 0`.execute(db).catch(() => {});
  });
  await expect(committing).rejects.toThrow('The database rolled back a transaction instead of committing it.');
  expect(await store.read(settings)).toEqual([]);
});

test('continues reads and transactions after a newer version has added columns to their tables', async () => {
  const url = await newDatabase();
  const [store, newer] = [await open(url), await open(url)];
  const add = (column: string) =>
    newer.commit(({ db }) => sql`alter table settings add column ${sql.ref(column)} bigint default 1`.execute(db));
  const change = () =>
    store.commit(async ({ db }) => {
      await db
        .insertInto('settings')
        .values({ name: 'rate_limit', value: 'null' })
        .onConflict((conflict) => conflict.doNothing())
        .execute();
      return settings(db);
    });
  await change();
  await store.read(settings);
  await add('one');
  expect(await store.read(settings)).toMatchObject([{ one: 1 }]);
  await change();
  await add('two');
  expect(await change()).toMatchObject([{ one: 1, two: 1 }]);
});

test('streams the columns that a newer version has added', async () => {
  const url = await newDatabase();
  const [store, newer] = [await open(url), await open(url)];
  await store.commit(({ db }) => db.insertInto('settings').values({ name: 'rate_limit', value: 'null' }).execute());
  const streamed = () =>
    store.readLong(async (db) => {
      const rows = [];
      for await (const row of db.selectFrom('settings').selectAll().stream(1)) rows.push(row);
      return rows;
    });
  expect(await streamed()).toHaveLength(1);
  await newer.commit(({ db }) => sql`alter table settings add column one bigint default 1`.execute(db));
  expect(await streamed()).toMatchObject([{ one: 1 }]);
});

test.each([1.5, 2 ** 53, Number.NaN, undefined])('refuses to store %s', async (value) => {
  const store = await open(await newDatabase());
  await expect(store.read((db) => sql`select ${value}::text`.execute(db))).rejects.toThrow(TypeError);
});
