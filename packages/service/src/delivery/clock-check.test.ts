import { describe, expect, onTestFinished, test, vi } from 'vitest';

import { ownProcessTime, seededStore, sharedStore } from '../../test/shared-store.ts';
import type { Store } from '../store/store.ts';
import { ClockError, createClockCheck, DEFAULT_MAX_JUMP_MS, DEFAULT_MAX_SKEW_MS } from './clock-check.ts';
import type { ClockLimits } from './clock-check.ts';

const NOW = Date.UTC(2026, 10, 10, 12);
const LIMITS: ClockLimits = { maxSkewMs: 5_000, maxJumpMs: 7_200_000, confirmedUntilMs: -Infinity };

/** A check of a clock that the test sets, with its reports. */
function newClockCheck(store: Store, limits: Partial<ClockLimits> = {}) {
  const clock = { time: NOW, now: () => clock.time, isSynchronized: vi.fn<() => Promise<boolean>>(async () => false) };
  const reports: (string | undefined)[] = [];
  const check = createClockCheck({
    store,
    clock,
    limits: { ...LIMITS, ...limits },
    onChange: (error) => reports.push(error?.message),
  });
  return { clock, reports, check, compare: () => store.read((db) => check.compare(db)) };
}

const markOf = (store: Store) => store.read((db) => db.selectFrom('clock_mark').selectAll().execute());

test('by default, a clock may differ by 5 seconds and jump by an hour', () => {
  expect([DEFAULT_MAX_SKEW_MS, DEFAULT_MAX_JUMP_MS]).toEqual([5_000, 3_600_000]);
});

describe('a store of one process', () => {
  test('accepts any clock at the first start, and stores its time from then on', async () => {
    const store = await seededStore();
    const { clock, check, compare } = newClockCheck(store);
    await compare();
    expect(await markOf(store)).toEqual([]);
    await check.mark();
    expect(await markOf(store)).toEqual([{ id: 1, newest: NOW }]);
    clock.time = NOW + 60_000;
    await check.mark();
    expect(await markOf(store)).toEqual([{ id: 1, newest: NOW + 60_000 }]);
  });

  test('accepts a jump up to the limit, and refuses one that is a millisecond longer', async () => {
    ownProcessTime();
    const store = await seededStore();
    const { clock, check, compare, reports } = newClockCheck(store);
    await check.mark();
    clock.time = NOW + LIMITS.maxJumpMs;
    await compare();
    expect(reports).toEqual([]);
    clock.time++;
    const message =
      'The clock of this machine shows 2026-11-10T14:00:00.001Z, but the store was last in use at 2026-11-10T12:00:00.000Z, ' +
      'and at most 2 hours between the two are allowed unless NTP keeps the clock right (timedatectl). Nothing is billed by a wrong clock. ' +
      'Set the clock right, for example with NTP. If it is right without NTP, because the service was stopped for so long, confirm it with ' +
      'RESELLER_CLOCK_CONFIRMED_UNTIL, an instant after the present one.';
    await expect(compare()).rejects.toThrow(new ClockError(message));
    await expect(compare()).rejects.toThrow(ClockError);
    expect(reports).toEqual([message]);
    clock.time--;
    await compare();
    await compare();
    expect(reports).toEqual([message, undefined]);
  });

  test('does not store the time of a wrong clock', async () => {
    ownProcessTime();
    const store = await seededStore();
    const { clock, check } = newClockCheck(store);
    await check.mark();
    clock.time = NOW + LIMITS.maxJumpMs + 1;
    await expect(check.mark()).rejects.toThrow(ClockError);
    expect(await markOf(store)).toEqual([{ id: 1, newest: NOW }]);
  });

  test('accepts a clock that is behind the stored time', async () => {
    const store = await seededStore();
    const { clock, check, compare } = newClockCheck(store);
    await check.mark();
    clock.time = 0;
    await expect(compare()).resolves.toBeUndefined();
    await expect(check.assertRight()).resolves.toBeUndefined();
  });

  test('accepts a jump up to the instant that an operator has confirmed', async () => {
    ownProcessTime();
    const store = await seededStore();
    const confirmedUntilMs = NOW + 10 * LIMITS.maxJumpMs;
    const { clock, check, compare } = newClockCheck(store, { confirmedUntilMs });
    await check.mark();
    clock.time = confirmedUntilMs;
    await compare();
    clock.time++;
    await expect(compare()).rejects.toThrow(ClockError);
  });

  test('accepts any jump of a clock that NTP keeps right, and stores its time', async () => {
    ownProcessTime();
    const store = await seededStore();
    const { clock, check, reports } = newClockCheck(store);
    await check.mark();
    clock.isSynchronized.mockResolvedValue(true);
    clock.time = NOW + 30 * LIMITS.maxJumpMs;
    await check.mark();
    expect(await markOf(store)).toEqual([{ id: 1, newest: clock.time }]);
    clock.time += 30 * LIMITS.maxJumpMs;
    await check.assertRight();
    expect(reports).toEqual([]);
  });

  test('accepts a jump as soon as NTP keeps the clock right, and asks for that at most once a second', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    ownProcessTime();
    const store = await seededStore();
    const { clock, check, reports } = newClockCheck(store);
    await check.mark();
    clock.time = NOW + LIMITS.maxJumpMs + 1;
    for (let request = 0; request < 3; request++) await expect(check.assertRight()).rejects.toThrow(ClockError);
    expect(clock.isSynchronized).toHaveBeenCalledTimes(1);
    clock.isSynchronized.mockResolvedValue(true);
    await vi.advanceTimersByTimeAsync(1_000);
    await check.assertRight();
    expect(reports).toEqual([expect.any(String), undefined]);
  });

  test('does not ask NTP about a clock within the limit', async () => {
    const store = await seededStore();
    const { clock, check } = newClockCheck(store);
    await check.mark();
    clock.time = NOW + LIMITS.maxJumpMs;
    await check.mark();
    expect(clock.isSynchronized).not.toHaveBeenCalled();
  });

  test('accepts a clock that advances as much as the process, without a query', async () => {
    const time = ownProcessTime();
    const store = await seededStore();
    const { clock, check } = newClockCheck(store);
    await check.mark();
    await store.close();
    time.now += 1_000_000;
    clock.time = NOW + LIMITS.maxJumpMs + 1_000_000;
    await expect(check.assertRight()).resolves.toBeUndefined();
    clock.time++;
    // A longer advance needs a query, and the store is closed.
    await expect(check.assertRight()).rejects.toThrow(/not open|finalized/);
  });

  test('compares a wrong clock again each time until it is right', async () => {
    ownProcessTime();
    const store = await seededStore();
    const { clock, check, reports } = newClockCheck(store);
    await check.mark();
    clock.time = NOW + LIMITS.maxJumpMs + 1;
    await expect(check.assertRight()).rejects.toThrow(ClockError);
    await expect(check.assertRight()).rejects.toThrow(ClockError);
    // Another process with the same clock has used the store in the meantime.
    await store.commit(({ db }) => db.updateTable('clock_mark').set({ newest: clock.time }).execute());
    await expect(check.assertRight()).resolves.toBeUndefined();
    expect(reports).toEqual([expect.any(String), undefined]);
  });
});

describe('a store that instances share', () => {
  test.each([
    [1, 'ahead of'],
    [-1, 'behind'],
  ])('accepts a difference up to the limit, and refuses one of a millisecond more (%d, %s)', async (sign, words) => {
    ownProcessTime();
    const { store, setTime } = await sharedStore();
    await setTime(NOW);
    const { clock, compare, reports } = newClockCheck(store);
    clock.time = NOW + sign * LIMITS.maxSkewMs;
    await compare();
    clock.time += sign;
    const message = `The clock of this machine is 5 seconds ${words} the clock of the database, and may differ by at most 5 seconds. Nothing is billed by a wrong clock. Set the clock of this machine right, for example with NTP.`;
    await expect(compare()).rejects.toThrow(new ClockError(message));
    clock.time = NOW;
    await compare();
    expect(reports).toEqual([message, undefined]);
  });

  test.each([
    [1, '5 seconds'],
    [115_000, '2 minutes'],
    [119_999, '2 minutes'],
    [7_195_000, '2 hours'],
    [172_795_000, '2 days'],
    [86_400_000 * 45, '45 days'],
    [60_000, '65 seconds'],
    [3_600_000, '60 minutes'],
    [86_400_000, '24 hours'],
  ])('a clock that is %d ms beyond the limit differs by %s', async (beyond, text) => {
    ownProcessTime();
    const { store, setTime } = await sharedStore();
    await setTime(NOW);
    const { clock, compare } = newClockCheck(store);
    clock.time = NOW + LIMITS.maxSkewMs + beyond;
    await expect(compare()).rejects.toThrow(`The clock of this machine is ${text} ahead of`);
  });

  test('writes a single second in the singular', async () => {
    ownProcessTime();
    const { store, setTime } = await sharedStore();
    await setTime(NOW);
    const { clock, compare } = newClockCheck(store, { maxSkewMs: 1_000 });
    clock.time = NOW + 1_001;
    await expect(compare()).rejects.toThrow('is 1 second ahead of the clock of the database, and may differ by at most 1 second.');
  });

  test('refuses a clock that advances more or less than the process', async () => {
    const time = ownProcessTime();
    const { store, setTime } = await sharedStore();
    await setTime(NOW);
    const { clock, check, compare } = newClockCheck(store);
    await compare();
    await store.close();
    time.now += 100_000;
    for (const right of [-LIMITS.maxSkewMs, 0, LIMITS.maxSkewMs]) {
      clock.time = NOW + 100_000 + right;
      await expect(check.assertRight()).resolves.toBeUndefined();
    }
    for (const wrong of [-LIMITS.maxSkewMs - 1, LIMITS.maxSkewMs + 1]) {
      clock.time = NOW + 100_000 + wrong;
      await expect(check.assertRight()).rejects.toThrow(/not open|finalized/);
    }
  });

  test('accepts any clock reading between the beginning and the end of a slow query', async () => {
    const time = ownProcessTime();
    const { store, setTime } = await sharedStore();
    await setTime(NOW);
    const { clock, check } = newClockCheck(store);
    // The query takes 2 seconds, and the database may have read its clock at any moment of them.
    const slow = store.read((db) => check.compare(db));
    time.now += 2_000;
    await slow;
    await store.close();
    clock.time = NOW + LIMITS.maxSkewMs + 2_000;
    await expect(check.assertRight()).resolves.toBeUndefined();
    clock.time++;
    await expect(check.assertRight()).rejects.toThrow(/not open|finalized/);
    clock.time = NOW - LIMITS.maxSkewMs;
    await expect(check.assertRight()).resolves.toBeUndefined();
    clock.time--;
    await expect(check.assertRight()).rejects.toThrow(/not open|finalized/);
  });

  test('does not believe NTP of this machine against the clock of the database', async () => {
    ownProcessTime();
    const { store, setTime } = await sharedStore();
    await setTime(NOW);
    const { clock, check } = newClockCheck(store);
    clock.isSynchronized.mockResolvedValue(true);
    await store.read((db) => check.compare(db));
    clock.time = NOW + LIMITS.maxSkewMs + 1;
    await expect(check.assertRight()).rejects.toThrow(ClockError);
  });

  test('stores no time', async () => {
    const { store, setTime } = await sharedStore();
    await setTime(NOW);
    const { check } = newClockCheck(store);
    await check.mark();
    expect(await markOf(store)).toEqual([]);
  });
});
