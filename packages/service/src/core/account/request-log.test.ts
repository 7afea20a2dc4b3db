/** The request log in the store, on both engines. */
import * as fc from 'fast-check';
import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';

import { amountOf } from '../../../../../.config/depth.ts';
import { engines, storePlace } from '../../../test/engines.ts';
import { NO_FACTS } from '../../../test/no-facts.ts';
import { systemClock } from '../../ports/system.ts';
import { systemRandom } from '../../ports/system.ts';
import type { LogEntry } from '../../store/log-row.ts';
import { writeLogRetention } from '../../store/settings.ts';
import type { Store } from '../../store/store.ts';
import { createAccount } from './account.ts';
import { deleteOldEntries, monthBefore } from './log-retention.ts';
import { readLog, storeFigures } from './request-log.ts';

const NOVEMBER = Date.UTC(2026, 10, 10);
const DAY_MS = 86_400_000;
const CATALOGUE = 'a catalogue '.repeat(200);

const createReseller = (store: Store) =>
  store.commit(({ db }) => createAccount(db, { clock: systemClock, random: systemRandom }, { name: 'one', creditLimit: 0n }));

/** A read of the catalogue. */
const entry = (account_id: string, request_id: string, { date = NOVEMBER, message = CATALOGUE } = {}): LogEntry => ({
  account_id,
  request_id,
  date,
  success: 1,
  endpoint: '/vm/list/hosts',
  method: 'GET',
  request_body: '{}',
  error_type: null,
  response_body: JSON.stringify({ status: 'success', requestID: request_id, message, data: null }),
  ...NO_FACTS,
});

const page = (store: Store, accountId: string, offset: number, limit = 50) =>
  store.commit(({ db }) => readLog(db, store.requestLog, { accountId, offset, limit }));

const idsOf = async (store: Store, accountId: string, offset = 0, limit = 50) =>
  (await page(store, accountId, offset, limit)).map(({ request_id }) => request_id);

/** Appends an entry in a transaction that the test commits. */
async function appendInOpenTransaction(store: Store, one: LogEntry): Promise<() => Promise<void>> {
  const [inserted, finish] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const done = store.commit(async ({ db }) => {
    const { entryColumns, insertEntries } = await import('../../store/postgres/request-log.ts');
    const { toLogRow } = await import('../../store/log-row.ts');
    await insertEntries(db, entryColumns([toLogRow(one)]));
    inserted.resolve();
    await finish.promise;
  });
  await inserted.promise;
  return () => {
    finish.resolve();
    return done;
  };
}

describe.each(engines)('on %s', (engine) => {
  const openStore = async () => (await storePlace(engine)).open();

  test('skips exactly as many of the newest entries as the offset says, if no entries arrive', async () => {
    const store = await openStore();
    const id = await createReseller(store);
    const all: string[] = [];
    for (let number = 0; number < 60; number++) {
      await store.requestLog.append(entry(id, String(number)));
      all.unshift(String(number));
    }
    await fc.assert(
      fc.asyncProperty(fc.nat(70), fc.integer({ min: 1, max: 60 }), async (offset, limit) => {
        expect(await idsOf(store, id, offset, limit)).toEqual(all.slice(offset, offset + limit));
      }),
      { numRuns: amountOf('PROPERTY_RUNS', { usual: 8, deep: 60 }) },
    );
  });

  test('has an entry in every later page, before all older entries, once its request has a response', async () => {
    const store = await openStore();
    const id = await createReseller(store);
    const withResponse: string[] = [];
    const writer = async (name: string) => {
      for (let number = 0; number < 20; number++) {
        const request = `${name}-${number}`;
        const before = withResponse.length;
        if (number % 3 === 0) await store.commit(async (transaction) => transaction.log(entry(id, request)));
        else await store.requestLog.append(entry(id, request));
        withResponse.push(request);
        const newest = await idsOf(store, id, 0, 1_000);
        const at = newest.indexOf(request);
        expect(at).toBeGreaterThanOrEqual(0);
        for (const older of withResponse.slice(0, before)) expect(newest.indexOf(older)).toBeGreaterThan(at);
      }
    };
    await Promise.all(['a', 'b', 'c', 'd'].map(writer));
    const all = await idsOf(store, id, 0, 1_000);
    expect(all.toSorted()).toEqual(withResponse.toSorted());
    expect(new Set(all).size).toBe(80);
  });

  test('stores a repeated response once, and returns each with its own requestID', async () => {
    const store = await openStore();
    const id = await createReseller(store);
    const sent = Array.from({ length: 1_000 }, (_, number) => entry(id, `00000000-0000-7000-8000-${String(number).padStart(12, '0')}`));
    for (const one of sent.slice(0, 3)) await store.requestLog.append(one);
    await Promise.all(sent.slice(3).map((one) => store.requestLog.append(one)));
    const logged = await page(store, id, 0, 1_000);
    expect(logged.map(({ response_body }) => response_body).toSorted()).toEqual(sent.map(({ response_body }) => response_body).toSorted());
    expect(await store.read((db) => db.selectFrom('request_log_bodies').select('hash').execute())).toHaveLength(1);
    const { logEntries, logBytes, storeBytes } = await storeFigures(store);
    expect(logEntries).toBe(1_000);
    expect(logBytes / 1_000).toBeLessThan(300);
    expect(storeBytes).toBeGreaterThan(100_000);
  });

  test('reads a deep page from the index, without scanning the log', async () => {
    const store = await openStore();
    const id = await createReseller(store);
    await store.commit(async ({ db }) => {
      await store.requestLog.prepareMonths(db, [202611]);
      await sql`
        insert into request_log (account_id, number, position, month, request_id, date, success, endpoint, method, request_body, response_body)
        with recursive n (i) as (select 1 union all select i + 1 from n where i < 20000)
        select ${id}, i, i * 300, 202611, cast(i as text), 1, 1, '/', 'GET', '{}', '{}' from n`.execute(db);
    });
    expect(await idsOf(store, id, 19_990)).toEqual(['10', '9', '8', '7', '6', '5', '4', '3', '2', '1']);
    if (engine === 'postgres') await store.read((db) => sql`analyze request_log`.execute(db));
    const query = sql`select * from request_log where account_id = ${id} and number <= ${10} and number > ${-40} order by number desc`;
    const explain = engine === 'sqlite' ? sql`explain query plan ${query}` : sql`explain (analyze, costs off, timing off) ${query}`;
    const plan = JSON.stringify((await store.read((db) => explain.execute(db))).rows);
    expect(plan).toMatch(engine === 'sqlite' ? /SEARCH request_log USING INDEX/ : /Index Scan.* rows=10(\.00)? /);
    expect(plan).not.toMatch(/SCAN request_log|Seq Scan|Rows Removed/);
  });

  test('retention by age deletes whole months, with their responses', async () => {
    const store = await openStore();
    const id = await createReseller(store);
    for (const [name, month] of [
      ['august', 7],
      ['september', 8],
      ['october', 9],
      ['november', 10],
    ] as const) {
      const date = Date.UTC(2026, month, 1);
      for (let number = 0; number < 3; number++)
        await store.requestLog.append(entry(id, `${name} ${number}`, { date, message: name.repeat(100) }));
    }
    await store.requestLog.numberAll();
    await deleteOldEntries(store, NOVEMBER);
    expect(await idsOf(store, id)).toHaveLength(12);
    await store.commit(({ db }) => writeLogRetention(db, { months: 1, bytesPerAccount: null }));
    await deleteOldEntries(store, NOVEMBER);
    expect(await idsOf(store, id)).toEqual(['november 2', 'november 1', 'november 0', 'october 2', 'october 1', 'october 0']);
    const bodies = await store.read((db) => db.selectFrom('request_log_bodies').select('month').orderBy('month').execute());
    expect(bodies.map(({ month }) => month)).toEqual([202610, 202611]);
    // Deleted months leave no gap and no repeated number.
    await store.requestLog.append(entry(id, 'late', { date: Date.UTC(2026, 7, 31) }));
    expect(await idsOf(store, id, 0, 2)).toEqual(['late', 'november 2']);
    expect(await idsOf(store, id, 6)).toEqual(['october 0']);
  });

  test('retention by size keeps the newest entries of each account', async () => {
    const store = await openStore();
    const [large, small] = [await createReseller(store), await createReseller(store)];
    await store.requestLog.append(entry(small, 'kept'));
    await Promise.all(
      Array.from({ length: 1_300 }, (_, number) =>
        store.requestLog.append(entry(large, String(number), { message: 'x'.repeat(1_000) + number })),
      ),
    );
    await store.commit(({ db }) => writeLogRetention(db, { months: null, bytesPerAccount: 200_000 }));
    await store.requestLog.numberAll();
    const before = await idsOf(store, large, 0, 2_000);
    await deleteOldEntries(store, NOVEMBER + DAY_MS);
    const after = await idsOf(store, large, 0, 2_000);
    expect(after.length).toBeGreaterThan(120);
    expect(after.length).toBeLessThan(160);
    expect(after).toEqual(before.slice(0, after.length));
    expect(await idsOf(store, small)).toEqual(['kept']);
    expect((await storeFigures(store)).logBytes).toBeLessThanOrEqual(202_000);
  });

  test('the size of an entry grows by each character of its path, its form and its response', async () => {
    const store = await openStore();
    const id = await createReseller(store);
    const sizes = { endpoint: 7, request_body: 31, response_body: 257 };
    const plain = entry(id, 'plain', { message: '' });
    const longer = (['endpoint', 'request_body', 'response_body'] as const).map((name) => ({
      ...plain,
      request_id: name,
      [name]: `${plain[name]}${'x'.repeat(sizes[name])}`,
    }));
    for (const one of [plain, ...longer]) await store.commit(async ({ log }) => log(one));
    await store.requestLog.numberAll();
    const rows = await store.read((db) => db.selectFrom('request_log').select('position').orderBy('number').execute());
    const [first = 0, ...others] = rows.map(({ position }, index) => position - (rows[index - 1]?.position ?? 0));
    expect(others.map((size) => size - first)).toEqual(Object.values(sizes));
  });

  test('retention by size counts the responses that entries share, and deletes those that no entry shares any longer', async () => {
    const store = await openStore();
    const id = await createReseller(store);
    const limit = 1_000_000;
    await store.commit(({ db }) => writeLogRetention(db, { months: null, bytesPerAccount: limit }));
    // A panel that reads a long list three times between two changes. Each response has 25 kB.
    for (let read = 0; read < 360; read++) {
      const message = `${Math.floor(read / 3)} `.padEnd(25_000, 'x');
      await store.requestLog.append(entry(id, String(read), { date: NOVEMBER + read * 7_003, message }));
      if (read % 60 !== 59) continue;
      await store.requestLog.numberAll();
      await deleteOldEntries(store, NOVEMBER + read * 7_003);
      const texts = await store.read((db) =>
        sql<{ bytes: number }>`select (select coalesce(sum(length(response_body)), 0) from request_log)
          + (select coalesce(sum(length(body)), 0) from request_log_bodies) as bytes`.execute(db),
      );
      // The oldest entry itself does not count.
      expect(texts.rows[0]?.bytes).toBeLessThanOrEqual(limit + 25_100);
      if (read > 180) expect(texts.rows[0]?.bytes).toBeGreaterThan(limit / 2);
      // Each remaining entry still has its response.
      const [newest] = await page(store, id, 0, 1);
      expect(newest).toMatchObject({ request_id: String(read), response_body: expect.stringContaining(message) });
    }
  });

  test.each([1, 2, 250, 499, 500, 501, 1_001])(
    'retention by size keeps %i entries that fit exactly, and one less if they do not',
    async (count) => {
      const store = await openStore();
      const id = await createReseller(store);
      await Promise.all(
        Array.from({ length: count }, (_, number) => store.requestLog.append(entry(id, String(number).padStart(5, '0'), { message: '' }))),
      );
      await store.requestLog.numberAll();
      const { logBytes } = await storeFigures(store);
      await store.commit(({ db }) => writeLogRetention(db, { months: null, bytesPerAccount: logBytes }));
      await deleteOldEntries(store, NOVEMBER);
      expect(await idsOf(store, id, 0, 2_000)).toHaveLength(count);
      if (count === 1) return;
      await store.commit(({ db }) => writeLogRetention(db, { months: null, bytesPerAccount: logBytes - 1 }));
      await deleteOldEntries(store, NOVEMBER);
      expect(await idsOf(store, id, 0, 2_000)).toHaveLength(count - 1);
    },
  );
});

test(
  'on PostgreSQL, adds an entry that commits late as the newest one, and never loses or moves entries of earlier responses',
  { tags: 'outer' },
  async () => {
    const store = await (await storePlace('postgres')).open();
    const id = await createReseller(store);
    const late: (() => Promise<void>)[] = [];
    const withResponse: string[] = [];
    for (let number = 0; number < 30; number++) {
      if (number % 7 === 3) late.push(await appendInOpenTransaction(store, entry(id, `late ${number}`)));
      await store.requestLog.append(entry(id, String(number)));
      withResponse.unshift(String(number));
    }
    expect(await idsOf(store, id, 0, 10)).toEqual(withResponse.slice(0, 10));
    const [commitFirst, ...others] = late;
    await commitFirst?.();
    // The page continues exactly one further, because one entry was added at the front.
    expect(await idsOf(store, id, 11, 10)).toEqual(withResponse.slice(10, 20));
    await Promise.all(others.map((commit) => commit()));
    expect(await idsOf(store, id, 20 + late.length, 10)).toEqual(withResponse.slice(20, 30));
    expect((await idsOf(store, id, 0, late.length)).toSorted()).toEqual(['late 10', 'late 17', 'late 24', 'late 3']);
    expect(await idsOf(store, id, late.length - 1, 2)).toEqual(['late 3', '29']);
  },
);

test(
  'on PostgreSQL, commits entries that arrive together once, and does not wait for an open transaction of the account',
  { tags: 'outer' },
  async () => {
    const store = await (await storePlace('postgres')).open();
    const id = await createReseller(store);
    const commit = await appendInOpenTransaction(store, entry(id, 'open'));
    await Promise.all(Array.from({ length: 100 }, (_, number) => store.requestLog.append(entry(id, String(number)))));
    const { rows } = await store.read((db) =>
      sql<{ inserts: number }>`select count(distinct xmin::text)::int as inserts from request_log_inbox`.execute(db),
    );
    expect(rows[0]?.inserts).toBeLessThanOrEqual(2);
    await commit();
    expect(await idsOf(store, id, 0, 200)).toHaveLength(101);
  },
);

test.each([
  [Date.UTC(2026, 0, 31), 0, 202601],
  [Date.UTC(2026, 0, 31), 1, 202512],
  [Date.UTC(2026, 4, 31), 3, 202602],
  [Date.UTC(2026, 10, 10), 12, 202511],
])('%s minus %i months', (now, months, month) => {
  expect(monthBefore(now, months)).toBe(month);
});
