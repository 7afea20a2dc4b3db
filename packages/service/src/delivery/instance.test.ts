import { sql } from 'kysely';
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest';

import { ownProcessTime, seededStore, sharedStore } from '../../test/shared-store.ts';
import { migrationsOf } from '../store/migrations/all.ts';
import { StoreUnavailableError } from '../store/store.ts';
import type { Store } from '../store/store.ts';
import { ClockError, createClockCheck } from './clock-check.ts';
import { DEFAULT_LEASE_MS, joinCluster } from './instance.ts';
import type { Instance, JoinOptions } from './instance.ts';

const LEASE = 10_000;
/** The clocks of the database and of the process at the start of each test. */
const START = 5_000_000_000;
const DAY = 86_400_000;
/** Longer than the usual second, which a busy machine exceeds. */
const WAIT = { timeout: 300_000 };

afterEach(() => void vi.useRealTimers());

/** Joins as an instance that leaves when the test ends. Its clock is right unless the test sets it. */
async function join(store: Store, given: Partial<JoinOptions> = {}) {
  const clock = { time: 0, now: () => clock.time };
  const limits = { maxSkewMs: Infinity, maxJumpMs: Infinity, confirmedUntilMs: -Infinity };
  const failures: unknown[] = [];
  const outdated: string[] = [];
  const instance = await joinCluster({
    store,
    id: 'this',
    leaseMs: LEASE,
    clockCheck: createClockCheck({ store, clock, limits, onChange: () => {} }),
    onFailure: (error) => failures.push(error),
    onOutdated: (reason) => outdated.push(reason),
    ...given,
  });
  onTestFinished(() => instance.leave());
  return { instance, clock, failures, outdated };
}

async function joinSharedStore() {
  const time = ownProcessTime();
  const { store, setTime } = await sharedStore();
  await setTime(START);
  const one = await join(store);
  const began = time.now;
  return {
    ...one,
    store,
    time,
    setTime,
    /** Sets the clocks of the process and the database to a time since the start. */
    async reach(milliseconds: number) {
      time.now = began + milliseconds;
      await setTime(START + milliseconds);
    },
  };
}

const leasesOf = (store: Store) => store.read((db) => db.selectFrom('instances').selectAll().orderBy('id').execute());
const leaseOf = async (store: Store) => (await leasesOf(store)).find(({ id }) => id === 'this')?.lease_until;
const addLease = (store: Store, id: string, leaseUntil: number) =>
  store.commit(({ db }) => db.insertInto('instances').values({ id, lease_until: leaseUntil }).execute());
const isDead = (store: Store, instance: Instance, owner: string | null) =>
  store.read(async (db) => {
    const { dead } = await db
      .selectNoFrom((eb) =>
        eb
          .case()
          .when(instance.isDead(eb, sql.val(owner)))
          .then(1)
          .else(0)
          .end()
          .as('dead'),
      )
      .executeTakeFirstOrThrow();
    return Number(dead) === 1;
  });

/** A store whose commits the test can hold or let fail. */
function withFailingCommits(store: Store): Store & { commitsFail?: unknown; hangs?: boolean } {
  const failing: Store & { commitsFail?: unknown; hangs?: boolean } = {
    ...store,
    commit: (...given) => {
      if (failing.hangs) return new Promise(() => {});
      return failing.commitsFail === undefined ? store.commit(...given) : Promise.reject(failing.commitsFail);
    },
  };
  return failing;
}

test('a lease lasts 15 seconds by default', () => expect(DEFAULT_LEASE_MS).toBe(15_000));

describe('a store that instances share', () => {
  test('gives an instance an id and a lease by the clock of the database', async () => {
    const { instance, store } = await joinSharedStore();
    expect([instance.id, instance.delivering.size]).toEqual(['this', 0]);
    expect(await leasesOf(store)).toEqual([{ id: 'this', lease_until: START + LEASE, serves: null }]);
  });

  test('gives no lease to an instance whose clock is wrong', async () => {
    ownProcessTime();
    const { store, setTime } = await sharedStore();
    await setTime(START);
    const limits = { maxSkewMs: 5_000, maxJumpMs: Infinity, confirmedUntilMs: -Infinity };
    const clockCheck = createClockCheck({ store, clock: { now: () => START + 5_001 }, limits, onChange: () => {} });
    await expect(join(store, { clockCheck })).rejects.toThrow(ClockError);
    expect(await leasesOf(store)).toEqual([]);
  });

  test('deletes leases a day after they expire, and not before', async () => {
    const { store, setTime } = await sharedStore();
    await setTime(START);
    await addLease(store, 'old', START - DAY - 1);
    await addLease(store, 'kept', START - DAY);
    await join(store);
    expect((await leasesOf(store)).map(({ id }) => id)).toEqual(['kept', 'this']);
  });

  describe('the judgement of other instances', () => {
    test('treats an owner without a lease as dead, but never the instance itself', async () => {
      const { instance, store, reach } = await joinSharedStore();
      for (const at of [0, LEASE / 2 + 1]) {
        await reach(at);
        expect(await isDead(store, instance, 'this')).toBe(false);
        for (const owner of ['unknown', '', null]) expect(await isDead(store, instance, owner)).toBe(true);
      }
    });

    test('treats another instance as dead from the moment at which its lease expires', async () => {
      const { instance, store, reach } = await joinSharedStore();
      await reach(LEASE / 2 + 1);
      await addLease(store, 'expired', START + LEASE / 2 + 1);
      await addLease(store, 'live', START + LEASE / 2 + 2);
      expect([await isDead(store, instance, 'expired'), await isDead(store, instance, 'live')]).toEqual([true, false]);
    });

    test('treats an expired lease as live until this instance has held its own for more than half its duration', async () => {
      const { instance, store, reach } = await joinSharedStore();
      await addLease(store, 'expired', START);
      await reach(LEASE / 2);
      expect(await isDead(store, instance, 'expired')).toBe(false);
      await reach(LEASE / 2 + 1);
      expect(await isDead(store, instance, 'expired')).toBe(true);
    });

    test('judges no instance after its own lease has expired, and waits again after it is renewed', async () => {
      const { instance, store, reach } = await joinSharedStore();
      await addLease(store, 'expired', START);
      await reach(LEASE - 1);
      expect(await isDead(store, instance, 'expired')).toBe(true);
      await reach(LEASE);
      expect(await isDead(store, instance, 'expired')).toBe(false);
      await reach(LEASE + 1);
      await instance.assertAlive();
      expect(await isDead(store, instance, 'expired')).toBe(false);
      await reach(LEASE + 1 + LEASE / 2);
      expect(await isDead(store, instance, 'expired')).toBe(false);
      await reach(LEASE + 2 + LEASE / 2);
      expect(await isDead(store, instance, 'expired')).toBe(true);
    });

    test('continues to judge if its own lease is renewed in time', async () => {
      const { instance, store, reach } = await joinSharedStore();
      await addLease(store, 'expired', START);
      await reach(LEASE);
      // Readiness renews the lease at the moment of its expiry.
      await instance.assertReady();
      expect(await isDead(store, instance, 'expired')).toBe(true);
    });
  });

  describe('before work begins', () => {
    test('a valid lease needs no query, and an expired one is renewed first', async () => {
      const { instance, store, reach } = await joinSharedStore();
      await reach(LEASE - 1);
      await instance.assertAlive();
      expect(await leaseOf(store)).toBe(START + LEASE);
      await reach(LEASE);
      await instance.assertAlive();
      expect(await leaseOf(store)).toBe(START + 2 * LEASE);
      await reach(2 * LEASE - 1);
      await instance.assertAlive();
      expect(await leaseOf(store)).toBe(START + 2 * LEASE);
    });

    test('a wrong clock or a lease that cannot be renewed is an error', async () => {
      const time = ownProcessTime();
      const { store, setTime } = await sharedStore();
      await setTime(START);
      const failing = withFailingCommits(store);
      const clock = { time: START, now: () => clock.time };
      const limits = { maxSkewMs: 5_000, maxJumpMs: Infinity, confirmedUntilMs: -Infinity };
      const { instance } = await join(failing, {
        clockCheck: createClockCheck({ store: failing, clock, limits, onChange: () => {} }),
      });
      clock.time += 5_001;
      await expect(instance.assertAlive()).rejects.toThrow(ClockError);
      clock.time = START;
      await expect(instance.assertAlive()).resolves.toBeUndefined();
      time.now += LEASE;
      clock.time += LEASE;
      failing.commitsFail = new StoreUnavailableError('The database is down.');
      await expect(instance.assertAlive()).rejects.toThrow('The database is down.');
      failing.commitsFail = undefined;
    });
  });

  describe('renewals', () => {
    test('take place four times in a lease, until the instance leaves', async () => {
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
      const { instance, store, setTime } = await joinSharedStore();
      await setTime(START + 1);
      await vi.advanceTimersByTimeAsync(LEASE / 4 - 1);
      expect(await leaseOf(store)).toBe(START + LEASE);
      await vi.advanceTimersByTimeAsync(1);
      await vi.waitUntil(async () => (await leaseOf(store)) === START + 1 + LEASE, WAIT);
      await setTime(START + 2);
      // The instance plans the next renewal some time after the lease can be read.
      await vi.waitUntil(async () => {
        await vi.advanceTimersByTimeAsync(LEASE / 4);
        return (await leaseOf(store)) === START + 2 + LEASE;
      }, WAIT);
      await instance.leave();
      await setTime(START + 3);
      await vi.advanceTimersByTimeAsync(2 * LEASE);
      expect(await leasesOf(store)).toEqual([]);
    });

    test('that fail are reported and tried again, but a wrong clock is reported by its check alone', async () => {
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
      const { store, setTime } = await sharedStore();
      await setTime(START);
      const failing = withFailingCommits(store);
      const { failures } = await join(failing);
      for (const error of [new StoreUnavailableError('one'), new ClockError('two'), new StoreUnavailableError('three')]) {
        failing.commitsFail = error;
        await vi.advanceTimersByTimeAsync(LEASE / 4);
      }
      expect(failures).toEqual([new StoreUnavailableError('one'), new StoreUnavailableError('three')]);
      failing.commitsFail = undefined;
      await setTime(START + 1);
      await vi.advanceTimersByTimeAsync(LEASE / 4);
      await vi.waitUntil(async () => (await leaseOf(store)) === START + 1 + LEASE, WAIT);
    });

    test.each([
      [LEASE, LEASE / 2],
      [40_000, 15_000],
    ])('that hang time out: with a lease of %d ms after %d ms', async (leaseMs, limit) => {
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
      const { store, setTime } = await sharedStore();
      await setTime(START);
      const failing = withFailingCommits(store);
      const { failures } = await join(failing, { leaseMs });
      failing.hangs = true;
      await vi.advanceTimersByTimeAsync(leaseMs / 4 + limit - 1);
      expect(failures).toEqual([]);
      await vi.advanceTimersByTimeAsync(1);
      expect(failures).toEqual([new StoreUnavailableError('The database did not respond in time to renew the lease.')]);
      failing.hangs = false;
    });
  });

  test('go on during an upgrade of the database, and report once that an instance of the newer version serves', async () => {
    const { instance, outdated, reach, store } = await joinSharedStore();
    const own = Object.keys(migrationsOf('postgres')).at(-1);
    const announce = (id: string, { serves, until }: { serves: string | null; until: number }) =>
      store.commit(({ db }) =>
        db
          .insertInto('instances')
          .values({ id, serves, lease_until: START + until })
          .execute(),
      );
    await store.commit(({ db }) => sql`insert into kysely_migration (name, timestamp) values ('9999-next', '')`.execute(db));
    await announce('starts', { serves: null, until: 99 * LEASE });
    await announce('has died', { serves: '9999-next', until: LEASE });
    await announce('has the same version', { serves: own ?? '', until: 99 * LEASE });
    await announce('has an older version', { serves: '0001-tables', until: 99 * LEASE });
    await reach(LEASE);
    await instance.assertAlive();
    expect(outdated).toEqual([]);
    await announce('serves', { serves: '9999-next', until: 99 * LEASE });
    for (const at of [2 * LEASE, 3 * LEASE]) {
      await reach(at);
      await instance.assertAlive();
    }
    expect(outdated).toEqual([
      `An instance of a newer version serves requests: it knows 9999-next, and this instance knows ${own}. This instance stops soon.`,
    ]);
  });

  test('announce that they serve at once, and at each renewal', async () => {
    const { instance, reach, store } = await joinSharedStore();
    const own = Object.keys(migrationsOf('postgres')).at(-1);
    expect(await leasesOf(store)).toEqual([{ id: 'this', lease_until: START + LEASE, serves: null }]);
    await instance.announceServing();
    await reach(LEASE);
    await instance.assertAlive();
    expect(await leasesOf(store)).toEqual([{ id: 'this', lease_until: START + 2 * LEASE, serves: own }]);
  });

  test('has others while one of them holds a lease', async () => {
    const { instance, store } = await joinSharedStore();
    expect(await instance.hasOthers()).toBe(false);
    await addLease(store, 'expired', START);
    expect(await instance.hasOthers()).toBe(false);
    await addLease(store, 'live', START + 1);
    expect(await instance.hasOthers()).toBe(true);
  });

  describe('readiness', () => {
    test('writes to the store at most once in a second, for any number of checks', async () => {
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
      const { instance, store, setTime } = await joinSharedStore();
      await Promise.all([instance.assertReady(), instance.assertReady()]);
      await setTime(START + 5);
      await vi.advanceTimersByTimeAsync(999);
      await instance.assertReady();
      expect(await leaseOf(store)).toBe(START + LEASE);
      await vi.advanceTimersByTimeAsync(1);
      await instance.assertReady();
      expect(await leaseOf(store)).toBe(START + 5 + LEASE);
    });

    test('is checked again at once after a failure', async () => {
      const { store, setTime } = await sharedStore();
      await setTime(START);
      const failing = withFailingCommits(store);
      const { instance } = await join(failing);
      failing.commitsFail = new StoreUnavailableError('The database is down.');
      await expect(instance.assertReady()).rejects.toThrow('The database is down.');
      failing.commitsFail = undefined;
      await expect(instance.assertReady()).resolves.toBeUndefined();
    });
  });

  test('lasts until the instance leaves, which deletes only its own lease, even if it leaves twice', async () => {
    const { instance, store } = await joinSharedStore();
    await addLease(store, 'other', START + 1);
    await instance.leave();
    expect((await leasesOf(store)).map(({ id }) => id)).toEqual(['other']);
    await addLease(store, 'this', START + 1);
    await instance.leave();
    expect(await leaseOf(store)).toBe(START + 1);
  });
});

describe('a store of one process', () => {
  const newest = async (store: Store) =>
    (await store.read((db) => db.selectFrom('clock_mark').selectAll().execute())).map((row) => row.newest);

  test('has no leases and no other instances, and every other owner is dead', async () => {
    const store = await seededStore();
    const { instance } = await join(store);
    expect(await leasesOf(store)).toEqual([]);
    expect(await isDead(store, instance, 'this')).toBe(false);
    for (const owner of ['other', '', null]) expect(await isDead(store, instance, owner)).toBe(true);
    await addLease(store, 'other', Number.MAX_SAFE_INTEGER);
    expect(await instance.hasOthers()).toBe(false);
    await instance.leave();
    expect(await leasesOf(store)).toHaveLength(1);
  });

  test('stores the time of its clock at the start, and then at most once a minute when work begins', async () => {
    const time = ownProcessTime();
    const store = await seededStore();
    const { instance, clock } = await join(store);
    expect(await newest(store)).toEqual([0]);
    clock.time = 1;
    time.now += 59_999;
    await instance.assertAlive();
    expect(await newest(store)).toEqual([0]);
    time.now += 1;
    await instance.assertAlive();
    expect(await newest(store)).toEqual([1]);
    clock.time = 2;
    time.now += 59_999;
    await instance.assertAlive();
    expect(await newest(store)).toEqual([1]);
  });

  test('is ready if the time of its clock can be stored', async () => {
    const store = await seededStore();
    const failing = withFailingCommits(store);
    const { instance, clock } = await join(failing);
    clock.time = 7;
    await instance.assertReady();
    expect(await newest(store)).toEqual([7]);
  });

  test('is not ready if it cannot be written to', async () => {
    const store = await seededStore();
    const failing = withFailingCommits(store);
    const { instance } = await join(failing);
    failing.commitsFail = new StoreUnavailableError('The disk is full.');
    await expect(instance.assertReady()).rejects.toThrow('The disk is full.');
  });
});
