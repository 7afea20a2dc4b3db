import { setTimeout } from 'node:timers/promises';

import { expect, test } from 'vitest';

import { forEachConcurrently } from './concurrency.ts';

const open = { max: 20, waitMs: 250, closing: new AbortController().signal };

test('starts the next items while one of them hangs', async () => {
  const last = Promise.withResolvers<void>();
  const ended: number[] = [];
  await forEachConcurrently(
    [0, 1, 2],
    async (item) => {
      if (item === 0) await last.promise;
      ended.push(item);
      if (item === 2) last.resolve();
    },
    open,
  );
  expect(ended).toEqual([1, 2, 0]);
});

test('never has more than 20 items running', async () => {
  let running = 0;
  let most = 0;
  const gates = Array.from({ length: 25 }, () => Promise.withResolvers<void>());
  const all = forEachConcurrently(
    [...gates.keys()],
    async (item) => {
      most = Math.max(most, ++running);
      // The first 19 items hang until the twentieth one releases them.
      if (item >= 19) for (const gate of gates) gate.resolve();
      await gates[item]?.promise;
      running--;
    },
    { ...open, waitMs: 10 },
  );
  await all;
  expect(most).toBe(20);
});

test.each([1, 2])('never has more than %i running, however long they take', async (max) => {
  let running = 0;
  const seen = new Set<number>();
  await forEachConcurrently(
    [0, 1, 2, 3, 4],
    async () => {
      seen.add(++running);
      await setTimeout(20);
      running--;
    },
    { ...open, max, waitMs: 1 },
  );
  expect(Math.max(...seen)).toBe(max);
});

test('starts no items after the service has begun to close', async () => {
  const closing = new AbortController();
  const started: number[] = [];
  await forEachConcurrently(
    [0, 1, 2],
    async (item) => {
      started.push(item);
      if (item === 1) closing.abort();
    },
    { ...open, closing: closing.signal },
  );
  expect(started).toEqual([0, 1]);
});
