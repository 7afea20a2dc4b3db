import { sql } from 'kysely';
import { expect, onTestFinished, test } from 'vitest';

import { newDatabase } from '../../../test/engines.ts';
import { prepared, together } from '../prepared.ts';
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

const DEADLOCK = sql`do $$ begin raise exception 'one deadlock' using errcode = '40P01'; end $$`;
const setting = (db: Db, name: 'rate_limit' | 'vat_rates') => db.insertInto('settings').values({ name, value: 'null' }).execute();

test('sends statements together in their order, and returns the result of each', async () => {
  const store = await open(await newDatabase());
  const count = async (db: Db) => (await settings(db)).length;
  const counts = await store.commit(({ db }) =>
    together([count(db), setting(db, 'rate_limit'), count(db), setting(db, 'vat_rates'), count(db)]),
  );
  expect(counts).toMatchObject([0, [{}], 1, [{}], 2]);
  expect(await store.read(count)).toBe(2);
});

test('of statements sent together of which one fails, names its failure, stores none, and runs none after the rollback', async () => {
  const store = await open(await newDatabase());
  const ended: unknown[] = [];
  const committing = store.commit(async (transaction) => {
    const { db } = transaction;
    async function later(): Promise<void> {
      await setting(db, 'rate_limit');
      // The failed statement was sent in the meantime.
      await setting(db, 'vat_rates').catch((error: unknown) => ended.push(error));
    }
    await together([later(), sql`select 1 / 0`.execute(db)]).catch(async (error: unknown) => {
      ended.push(error);
      await transaction.rollBack();
    });
  });
  await expect(committing).resolves.toBeUndefined();
  expect(ended).toMatchObject([{ message: 'division by zero' }, { message: 'division by zero' }]);
  expect(await store.read(settings)).toEqual([]);
});

test.each(['first', 'last'])('repeats a transaction of which the %s of several statements sent together deadlocks', async (place) => {
  const store = await open(await newDatabase());
  let attempts = 0;
  await store.commit(async ({ db }) => {
    const deadlock = () => (attempts++ === 0 ? DEADLOCK : sql`select 1`).execute(db);
    if (place === 'first') await together([deadlock(), setting(db, 'rate_limit')]);
    else await together([setting(db, 'rate_limit').then(() => setting(db, 'vat_rates')), deadlock()]);
  });
  expect(attempts).toBe(2);
  expect(await store.read(settings)).toHaveLength(place === 'first' ? 1 : 2);
});

const addSetting = prepared<{ value: string }, { name: string }>((db, parameter) =>
  db
    .insertInto('settings')
    .values({ name: 'rate_limit', value: parameter('value') })
    .returning('name'),
);
const divide = prepared<{ by: number }, unknown>((db, parameter) => ({
  compile: () => sql`select 1 / ${parameter('by')}::bigint`.compile(db),
}));

test.each([
  [0, 1, []],
  [1, 0, []],
  [1, 1, ['rate_limit', 'vat_rates']],
])('commits all or nothing if the divisors of the first and last query at the commit are %i and %i', async (first, last, stored) => {
  const store = await open(await newDatabase());
  const results: unknown[] = [];
  const committing = store.commit(async ({ db, atCommit }) => {
    void atCommit(divide, { by: first });
    void atCommit(addSetting, { value: 'null' }).then((rows) => results.push(rows));
    void atCommit(divide, { by: last });
    await setting(db, 'vat_rates');
  });
  if (stored.length === 0) await expect(committing).rejects.toThrow('division by zero');
  else await committing;
  expect(results).toHaveLength(stored.length === 0 ? 0 : 1);
  expect((await store.read(settings)).map(({ name }) => name).toSorted()).toEqual(stored);
});

test('refuses a statement that the work of a transaction did not wait for, and that comes after the commit', async () => {
  const store = await open(await newDatabase());
  const late: Promise<unknown>[] = [];
  await store.commit(async ({ db }) => {
    await setting(db, 'rate_limit');
    late.push(setting(db, 'vat_rates').catch((error: unknown) => error));
  });
  expect(await late[0]).toMatchObject({ message: 'A statement of a transaction was sent after its commit.' });
  expect(await store.read(settings)).toHaveLength(1);
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
