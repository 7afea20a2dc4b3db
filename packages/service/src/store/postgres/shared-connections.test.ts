import { sql } from 'kysely';
import { expect, onTestFinished, test, vi } from 'vitest';

import { newDatabase } from '../../../test/engines.ts';
import { wayTo } from '../../../test/tcp-proxy.ts';
import { deferredWrite, preparedOne } from '../prepared.ts';
import { StoreUnavailableError } from '../store.ts';
import type { Store, Transaction } from '../store.ts';
import { openPostgresStore } from './open.ts';

const TRANSACTIONS = 12;

/** Inserts a row with the connection that inserted it. A repeated insert would be visible. */
const insertTrial = deferredWrite<{ name: string }>((db, parameter) => ({
  compile: () => sql`insert into trials (name, backend) values (${parameter('name')}, pg_backend_pid())`.compile(db),
}));
const take = preparedOne<{ name: string }>((db, parameter) => ({
  compile: () => sql`update stock set amount = amount - 1 where name = ${parameter('name')} and amount > 0`.compile(db),
}));
const divideByZero = deferredWrite<object>((db) => ({ compile: () => sql`select 1 / amount from stock where name = 'empty'`.compile(db) }));

async function open(url: string): Promise<Store> {
  const store = await openPostgresStore(url);
  onTestFinished(() => store.close());
  return store;
}

async function openWithTables(): Promise<{ readonly url: string; readonly store: Store }> {
  const url = await newDatabase();
  const store = await open(url);
  await store.commit(async ({ db }) => {
    await sql`create table trials (name text not null, backend integer not null)`.execute(db);
    await sql`create table stock (name text primary key, amount integer not null)`.execute(db);
    await sql`insert into stock values ('full', 1000), ('empty', 0)`.execute(db);
  });
  return { url, store };
}

async function trials(store: Store) {
  const { rows } = await store.read((db) => sql<{ name: string; backend: number }>`select * from trials order by name`.execute(db));
  return rows;
}

function buy(store: Store, name: string, from = 'full'): Promise<boolean> {
  return store.commit(
    async ({ db }) => {
      await insertTrial(db, { name });
      return take(db, { name: from });
    },
    { isOptimistic: true },
  );
}

/** Locks the stock until the returned function is called. */
async function lockStock(store: Store): Promise<() => Promise<void>> {
  const [locked, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const holding = store.commit(async ({ db }) => {
    await sql`select 1 from stock for update`.execute(db);
    locked.resolve();
    await released.promise;
  });
  await locked.promise;
  return async () => {
    released.resolve();
    await holding;
  };
}

function waitingForLocks(store: Store): Promise<number> {
  return store.read(async (db) => {
    const { rows } = await sql<{ count: number }>`select count(*) as count from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`.execute(db);
    return rows[0]?.count ?? 0;
  });
}

const names = Array.from({ length: TRANSACTIONS }, (_, number) => `trial ${String(number).padStart(2, '0')}`);

test('transactions that arrive together share two connections', async () => {
  const { store } = await openWithTables();
  expect(await Promise.all(names.map((name) => buy(store, name)))).toEqual(names.map(() => true));
  const rows = await trials(store);
  expect(rows.map(({ name }) => name)).toEqual(names);
  expect(new Set(rows.map(({ backend }) => backend)).size).toBeLessThanOrEqual(2);
});

test('an error in one transaction does not affect those before and behind it', async () => {
  const { store } = await openWithTables();
  const failing = new Set([0, 5, 6]);
  const outcomes = await Promise.allSettled(
    names.map((name, number) =>
      store.commit(async ({ db }: Transaction) => {
        await insertTrial(db, { name });
        if (failing.has(number)) await divideByZero(db, {});
      }),
    ),
  );
  expect(outcomes.map(({ status }) => status)).toEqual(names.map((_, number) => (failing.has(number) ? 'rejected' : 'fulfilled')));
  expect((await trials(store)).map(({ name }) => name)).toEqual(names.filter((_, number) => !failing.has(number)));
});

test('a wrong assumption runs again alone, and those around it run once', async () => {
  const { store } = await openWithTables();
  const runs = names.map(() => 0);
  const taken = await Promise.all(
    names.map((name, number) =>
      store.commit(
        async (transaction) => {
          runs[number] = (runs[number] ?? 0) + 1;
          await insertTrial(transaction.db, { name });
          const isTaken = await take(transaction.db, { name: number === 3 ? 'empty' : 'full' });
          if (!isTaken) await transaction.rollBack();
          return isTaken;
        },
        { isOptimistic: true },
      ),
    ),
  );
  expect(taken).toEqual(names.map((_, number) => number !== 3));
  expect(runs).toEqual(names.map((_, number) => (number === 3 ? 2 : 1)));
  expect((await trials(store)).map(({ name }) => name)).toEqual(names.filter((_, number) => number !== 3));
});

test('a connection that breaks ends each of its transactions, and none is carried out twice', async () => {
  const { url, store: direct } = await openWithTables();
  const way = await wayTo(url);
  const store = await open(way.url);
  await buy(store, 'before');
  const release = await lockStock(direct);
  const buying = names.map((name) => buy(store, name));
  const outcomes = Promise.allSettled(buying);
  await vi.waitFor(async () => expect(await waitingForLocks(direct)).toBe(2), { timeout: 60_000 });
  await way.cut();
  for (const outcome of await outcomes) expect(outcome).toMatchObject({ status: 'rejected', reason: expect.any(StoreUnavailableError) });
  await release();
  await vi.waitFor(async () => expect(await waitingForLocks(direct)).toBe(0), { timeout: 60_000 });
  const kept = (await trials(direct)).map(({ name }) => name);
  expect(kept).toEqual([...new Set(kept)]);
});

test('a transaction that waits for a lock does not hold up the transactions of others for long', async () => {
  const { store } = await openWithTables();
  const release = await lockStock(store);
  const waiting = [buy(store, 'one'), buy(store, 'two')];
  await vi.waitFor(async () => expect(await waitingForLocks(store)).toBe(2), { timeout: 60_000 });
  let committed = 0;
  const others: Promise<void>[] = [];
  await vi.waitFor(
    () => {
      others.push(store.commit(({ db }) => insertTrial(db, { name: 'other' })).then(() => void committed++));
      expect(committed).toBeGreaterThan(0);
    },
    { timeout: 60_000 },
  );
  await release();
  expect(await Promise.all(waiting)).toEqual([true, true]);
  await Promise.all(others);
});

test('statements are prepared again after an error has skipped their preparation', async () => {
  const { store } = await openWithTables();
  // The error comes before the insert is prepared, and other transactions are behind it already.
  const failing = store.commit(async ({ db }) => {
    await divideByZero(db, {});
    await insertTrial(db, { name: 'failing' });
  });
  const [outcome] = await Promise.all([Promise.allSettled([failing]), ...names.map((name) => buy(store, name))]);
  expect(outcome).toMatchObject([{ status: 'rejected' }]);
  expect((await trials(store)).map(({ name }) => name)).toEqual(names);
});
