/** The guarantees of every engine. */
import { sql } from 'kysely';
import { describe, expect, test, vi } from 'vitest';

import { engines, storePlace } from '../../test/engines.ts';
import { NO_FACTS } from '../../test/no-facts.ts';
import { createAccount } from '../core/account/account.ts';
import { systemClock } from '../ports/system.ts';
import { systemRandom } from '../ports/system.ts';
import { prepared } from './prepared.ts';
import { StoreUnavailableError } from './store.ts';
import type { Db, Store } from './store.ts';

const names = (store: Store) =>
  store.read(async (db) => (await db.selectFrom('accounts').select('name').orderBy('name').execute()).map(({ name }) => name));

async function logOf(store: Store): Promise<string[]> {
  await store.requestLog.numberAll();
  return store.read(async (db) =>
    (await db.selectFrom('request_log').select(['number', 'request_id']).orderBy('number').execute()).map(
      (row) => `${row.number} ${row.request_id}`,
    ),
  );
}

const entry = (account_id: string, request_id: string) => ({
  account_id,
  request_id,
  date: 0,
  success: 0,
  endpoint: '/',
  method: 'GET',
  request_body: '{}',
  error_type: null,
  response_body: '{}',
  ...NO_FACTS,
});

const ports = { clock: systemClock, random: systemRandom };

const create = (store: Store, name: string) => store.commit(({ db }) => createAccount(db, ports, { name, creditLimit: 0n }));

describe.each(engines)('on %s', (engine) => {
  const openStore = async () => (await storePlace(engine)).open();

  test('keeps committed changes after it is closed and opened again', async () => {
    const place = await storePlace(engine);
    const first = await place.open();
    await create(first, 'kept');
    await first.close();
    expect(await names(await place.open())).toEqual(['kept']);
  });

  test('a long read sees the data of one moment in all its queries, streamed or not', async () => {
    const store = await openStore();
    await store.commit(async ({ db }) => {
      for (let n = 10; n < 22; n++) await createAccount(db, ports, { name: `account ${n}`, creditLimit: 0n });
    });
    const before = await names(store);
    const seen = await store.readLong(async (db) => {
      const streamed: string[] = [];
      for await (const { name } of db.selectFrom('accounts').select('name').orderBy('name').stream(4)) {
        streamed.push(name);
        // Between two parts of the stream.
        if (streamed.length === 4) await create(store, 'account 15, later');
      }
      const again: string[] = [];
      // The same statement again, with other parameters, whose last part is not full.
      for (const limit of [5, 3])
        for await (const { name } of db.selectFrom('accounts').select('name').orderBy('name').limit(limit).stream(4)) again.push(name);
      return { streamed, again, read: (await db.selectFrom('accounts').select('name').orderBy('name').execute()).map(({ name }) => name) };
    });
    expect(before).toHaveLength(12);
    expect(seen).toEqual({ streamed: before, again: [...before.slice(0, 5), ...before.slice(0, 3)], read: before });
    expect(await names(store)).toHaveLength(13);
  });

  test('computes with bound numbers as with integers', async () => {
    const store = await openStore();
    await create(store, 'one');
    await store.commit(({ db }) => db.updateTable('accounts').set({ held: 9_000_000_000_000_001, unpaid: 250 }).execute());
    const results = await store.read((db) =>
      db
        .selectFrom('accounts')
        .select([
          sql<number>`held / ${1_000_000_000}`.as('quotient'),
          sql<number>`held % ${1_000_000_000}`.as('remainder'),
          sql<number>`unpaid / ${251}`.as('none'),
          sql<number>`${250} / unpaid`.as('once'),
          sql<number>`sum(held / ${7}) over ()`.as('sum'),
        ])
        .executeTakeFirstOrThrow(),
    );
    expect(results).toEqual({ quotient: 9_000_000, remainder: 1, none: 0, once: 1, sum: 1_285_714_285_714_285 });
  });

  test('no value is in an empty list', async () => {
    const store = await openStore();
    await create(store, 'one');
    const count = (operator: 'in' | 'not in') =>
      store.read(async (db) => (await db.selectFrom('accounts').select('id').where('name', operator, []).execute()).length);
    expect([await count('in'), await count('not in')]).toEqual([0, 1]);
  });

  test('a long read cannot write', async () => {
    const store = await openStore();
    await expect(store.readLong((db) => createAccount(db, ports, { name: 'written', creditLimit: 0n }))).rejects.toThrow(
      StoreUnavailableError,
    );
    expect(await names(store)).toEqual([]);
  });

  test('refuses transactions after it was closed', async () => {
    const store = await openStore();
    await store.close();
    await expect(create(store, 'late')).rejects.toThrow(/closed|destroyed/);
  });

  test('a failing transaction does not affect those that arrive with it', async () => {
    const store = await openStore();
    const results = await Promise.allSettled(
      ['a', 'b', 'c', 'd'].map((name) =>
        store.commit(async ({ db }) => {
          await createAccount(db, ports, { name, creditLimit: 0n });
          if (name === 'b') throw new Error('no');
        }),
      ),
    );
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled']);
    expect(await names(store)).toEqual(['a', 'c', 'd']);
  });

  test('runs queries with the commit after all others, and not those from before a rollback', async () => {
    const store = await openStore();
    const [one, other] = [await create(store, 'one'), await create(store, 'other')];
    const hold = prepared<{ id: string; held: number }, { held: number }>((db, parameter) =>
      db
        .updateTable('accounts')
        .set({ held: parameter('held') })
        .where('id', '=', parameter('id'))
        .returning('held'),
    );
    const rows: Promise<unknown>[] = [];
    await store.commit(async (transaction) => {
      void transaction.atCommit(hold, { id: one, held: 1 });
      await transaction.rollBack();
      rows.push(transaction.atCommit(hold, { id: other, held: 3 }));
      await hold(transaction.db, { id: other, held: 2 });
    });
    expect(await Promise.all(rows)).toEqual([[{ held: 3 }]]);
    const held = await store.read((db) => db.selectFrom('accounts').select('held').orderBy('name').execute());
    expect(held).toEqual([{ held: 0 }, { held: 3 }]);
  });

  test.each([
    ['is refused by the database', 'refused', /constraint/],
    ['cannot be sent', undefined, /A query parameter is/],
  ])('stores nothing of a transaction if one of the queries with its commit %s', async (_, name, message) => {
    const store = await openStore();
    const id = await create(store, 'kept');
    const insert = prepared<{ name: string | undefined }, unknown>((db, parameter) =>
      db
        .insertInto('accounts')
        .columns(['id', 'name'])
        .expression(db.selectNoFrom([sql.lit(id).as('id'), parameter('name').as('name')])),
    );
    const rename = prepared<{ name: string }, unknown>((db, parameter) => db.updateTable('accounts').set({ name: parameter('name') }));
    const committing = store.commit(async (transaction) => {
      await createAccount(transaction.db, ports, { name: 'lost', creditLimit: 0n });
      void transaction.atCommit(rename, { name: 'renamed' });
      void transaction.atCommit(insert, { name });
      transaction.log(entry(id, 'a'));
    });
    await expect(committing).rejects.toThrow(message);
    expect([await names(store), await logOf(store)]).toEqual([['kept'], []]);
    await create(store, 'later');
    expect(await names(store)).toEqual(['kept', 'later']);
  });

  test('a transaction that rolls back keeps its log entry and continues', async () => {
    const store = await openStore();
    const id = await create(store, 'first');
    await store.commit(async (transaction) => {
      await createAccount(transaction.db, ports, { name: 'rolled back', creditLimit: 0n });
      transaction.log(entry(id, 'a'));
      await transaction.rollBack();
      await createAccount(transaction.db, ports, { name: 'second', creditLimit: 0n });
    });
    expect(await names(store)).toEqual(['first', 'second']);
    expect(await logOf(store)).toEqual(['1 a']);
  });

  test('numbers log entries without a gap, even across a failed transaction and a restart', async () => {
    const place = await storePlace(engine);
    const store = await place.open();
    const id = await create(store, 'one');
    const write = (to: Store, name: string, fails = false) =>
      to.commit(async (transaction) => {
        transaction.log(entry(id, name));
        if (fails) throw new Error('no');
      });
    await write(store, 'a');
    await expect(write(store, 'b', true)).rejects.toThrow('no');
    await write(store, 'c');
    await store.close();
    const again = await place.open();
    await write(again, 'd');
    expect(await logOf(again)).toEqual(['1 a', '2 c', '3 d']);
  });

  test('gives a hundred concurrent log entries distinct numbers', async () => {
    const store = await openStore();
    const id = await create(store, 'one');
    await Promise.all(
      Array.from({ length: 100 }, (_, index) => store.commit(async (transaction) => transaction.log(entry(id, String(index))))),
    );
    await store.requestLog.numberAll();
    const numbers = await store.read((db) => db.selectFrom('request_log').select('number').orderBy('number').execute());
    expect(numbers.map(({ number }) => number)).toEqual(Array.from({ length: 100 }, (_, index) => index + 1));
  });

  test('a reader never sees an uncommitted transaction', async () => {
    const store = await openStore();
    await store.commit(async ({ db }) => {
      await createAccount(db, ports, { name: 'new', creditLimit: 0n });
      expect(await names(store)).toEqual([]);
    });
    expect(await names(store)).toEqual(['new']);
  });

  test('a limit in a conditional update holds under two hundred concurrent transactions', async () => {
    const store = await openStore();
    const id = await create(store, 'one');
    await store.commit(({ db }) => db.updateTable('accounts').set({ credit_limit: 37 }).execute());
    const take = () =>
      store.commit(async ({ db }) => {
        const { numUpdatedRows } = await db
          .updateTable('accounts')
          .set({ held: sql`held + 1` })
          .where('id', '=', id)
          .where(sql<boolean>`held + 1 <= credit_limit`)
          .executeTakeFirstOrThrow();
        return Number(numUpdatedRows);
      });
    const taken = await Promise.all(Array.from({ length: 200 }, take));
    expect(taken.filter(Boolean)).toHaveLength(37);
  });

  test('returns integers up to 2^53 exactly, and their sums', async () => {
    const store = await openStore();
    const id = await create(store, 'one');
    const most = Number.MAX_SAFE_INTEGER;
    await store.commit(({ db }) => db.updateTable('accounts').set({ credit_limit: most }).where('id', '=', id).execute());
    const row = await store.read((db) =>
      db
        .selectFrom('accounts')
        .select(({ fn }) => ['credit_limit', fn.sum<number>('credit_limit').as('sum'), fn.countAll<number>().as('count')])
        .groupBy('credit_limit')
        .executeTakeFirstOrThrow(),
    );
    expect(row).toEqual({ credit_limit: most, sum: most, count: 1 });
  });

  test('a check of a table rejects a wrong value, and nothing of the transaction is kept', async () => {
    const store = await openStore();
    const id = await create(store, 'one');
    await expect(store.commit(({ db }) => db.updateTable('accounts').set({ held: -1 }).where('id', '=', id).execute())).rejects.toThrow(
      /held/,
    );
    expect(await store.read((db) => db.selectFrom('accounts').select('held').execute())).toEqual([{ held: 0 }]);
  });
});

test('four instances that open an empty PostgreSQL database at the same time all find its tables', { tags: 'outer' }, async () => {
  for (let round = 0; round < 5; round++) {
    const place = await storePlace('postgres');
    const stores = await Promise.all(Array.from({ length: 4 }, () => place.open()));
    for (const [number, store] of stores.entries()) await create(store, `by ${number}`);
    for (const store of stores) expect(await names(store)).toEqual(['by 0', 'by 1', 'by 2', 'by 3']);
    await Promise.all(stores.map((store) => store.close()));
  }
});

test('rolls back a transaction whose PostgreSQL connection is cut, and continues on another connection', { tags: 'outer' }, async () => {
  const store = await (await storePlace('postgres')).open();
  const pidOf = async (db: Db) => (await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(db)).rows[0]?.pid ?? 0;
  const isGone = async (pid: number) => (await sql`select 1 from pg_stat_activity where pid = ${pid}`.execute(other)).rows.length === 0;
  let other: Db;
  const transaction = store.commit(async ({ db }) => {
    await createAccount(db, ports, { name: 'rolled back', creditLimit: 0n });
    const pid = await pidOf(db);
    await store.read(async (reading) => {
      other = reading;
      await sql`select pg_terminate_backend(${pid})`.execute(reading);
      await vi.waitUntil(() => isGone(pid), { timeout: 300_000 });
    });
    await createAccount(db, ports, { name: 'rolled back too', creditLimit: 0n });
  });
  await expect(transaction).rejects.toThrow(StoreUnavailableError);
  await create(store, 'after');
  expect(await names(store)).toEqual(['after']);
});

test('limits PostgreSQL statements and idle transactions to ten seconds', { tags: 'outer' }, async () => {
  const store = await (await storePlace('postgres')).open();
  const { rows } = await store.read((db) =>
    sql<
      Record<string, string>
    >`select current_setting('idle_in_transaction_session_timeout') as transaction, current_setting('statement_timeout') as statement`.execute(
      db,
    ),
  );
  expect(rows).toEqual([{ transaction: '10s', statement: '10s' }]);
});
