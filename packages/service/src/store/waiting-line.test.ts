import { expect, test } from 'vitest';

import { StoreBusyError } from './store.ts';
import { waitingLine } from './waiting-line.ts';

const A_LONG_TIME_MS = 60_000;

test('a caller whose time is over leaves the line, and takes no place later', async () => {
  const line = waitingLine({ places: 2, maxLength: 10, maxWaitMs: 5 });
  const taken = [await line.takePlace(false), await line.takePlace(false)];
  const late = await Promise.allSettled([line.takePlace(false), line.takePlace(false), line.takePlace(false)]);
  expect(late.map((one) => one.status === 'rejected' && one.reason instanceof StoreBusyError)).toEqual([true, true, true]);
  expect(line.figures()).toEqual({ inUse: 2, waiting: 0, max: 2 });
  for (const giveBack of taken) giveBack();
  expect(line.figures()).toEqual({ inUse: 0, waiting: 0, max: 2 });
  await Promise.all([line.takePlace(false), line.takePlace(false)]);
  expect(line.figures().inUse).toBe(2);
});

test('urgent work overtakes new work, and new work keeps its order', async () => {
  const line = waitingLine({ places: 1, maxLength: 10, maxWaitMs: A_LONG_TIME_MS });
  const giveBack = await line.takePlace(false);
  const order: string[] = [];
  const work = async (name: string, isUrgent: boolean) => {
    const end = await line.takePlace(isUrgent);
    order.push(name);
    end();
  };
  const all = [work('new 1', false), work('new 2', false), work('urgent 1', true), work('urgent 2', true)];
  expect(line.figures()).toEqual({ inUse: 1, waiting: 4, max: 1 });
  giveBack();
  await Promise.all(all);
  expect(order).toEqual(['urgent 1', 'urgent 2', 'new 1', 'new 2']);
  expect(line.figures()).toEqual({ inUse: 0, waiting: 0, max: 1 });
});

test('refuses new work if too much waits, but never urgent work', async () => {
  const line = waitingLine({ places: 1, maxLength: 1, maxWaitMs: A_LONG_TIME_MS });
  const giveBack = await line.takePlace(false);
  const waiting = line.takePlace(false);
  await expect(line.takePlace(false)).rejects.toThrow('1 requests are waiting for a connection to the database.');
  const urgent = line.takePlace(true);
  giveBack();
  (await urgent)();
  (await waiting)();
  expect(line.figures()).toEqual({ inUse: 0, waiting: 0, max: 1 });
});
