import { expect, test } from 'vitest';

import { inChunks, inTurns, jsonInTurns } from './turns.ts';

/** Keeps the event loop busy. */
function work(milliseconds: number): void {
  for (const end = performance.now() + milliseconds; performance.now() < end;);
}

/** Runs a computation, and counts how often other work ran meanwhile. */
async function turnsDuring(computation: () => Promise<unknown>): Promise<number> {
  let turns = 0;
  let isDone = false;
  function count(): void {
    if (isDone) return;
    turns++;
    setImmediate(count);
  }
  setImmediate(count);
  await computation();
  isDone = true;
  return turns;
}

const ITEMS = Array.from({ length: 320 }, (_, index) => index);

test('lets other work run between the items of a long computation, and keeps their order', async () => {
  const handled: number[] = [];
  const turns = await turnsDuring(() =>
    inTurns(ITEMS, (item) => {
      if (item % 32 === 0) work(9);
      handled.push(item);
    }),
  );
  expect(handled).toEqual(ITEMS);
  expect(turns).toBeGreaterThanOrEqual(9);
});

test('does not wait during a short computation', async () => {
  expect(await turnsDuring(() => inTurns([1, 2, 3], () => {}))).toBe(0);
});

test('runs at most one of several long computations between two turns of other work', async () => {
  let sinceOther = 0;
  let most = 0;
  let begun = 0;
  function computation() {
    return inTurns(ITEMS, (item) => {
      if (item % 32 > 0) return;
      // All of them begin at once.
      if (item === 0) begun++;
      else most = Math.max(most, ++sinceOther);
      work(9);
    });
  }
  let isDone = false;
  function other(): void {
    sinceOther = 0;
    if (!isDone) setImmediate(other);
  }
  setImmediate(other);
  await Promise.all([computation(), computation(), computation()]);
  isDone = true;
  expect([begun, most]).toEqual([3, 1]);
});

test.each([
  ['nothing', null],
  ['a text', 'é"\\n'],
  ['an empty list', []],
  ['an empty object', {}],
  ['a map of lists', { status: 'success', data: { total: 1.5, positions: { vms: { 1: [{ a: 1 }, { a: null }], 2: [] } } } }],
  ['a list of objects', { data: { list: [{ a: { b: { c: [1, [2]] } } }, 'x', null] } }],
  ['absent members', { a: undefined, b: { c: undefined, d: [undefined] }, e: undefined }],
  ['values deeper than the members that are written one by one', { a: { b: { c: { d: { e: { f: [1, { g: 2 }] } } } } } }],
])('writes %s like JSON.stringify', async (_, value) => {
  expect((await jsonInTurns(value)).join('')).toBe(JSON.stringify(value));
});

test('collects a long text in a few chunks', () => {
  const parts = Array.from({ length: 10_000 }, (_, id) => `server ${id}, `);
  const chunks = inChunks((text) => text);
  for (const part of parts) chunks.add(part);
  expect(chunks.all().join('')).toBe(parts.join(''));
  expect(chunks.all().length).toBe(2);
  expect(Math.max(...chunks.all().map(({ length }) => length))).toBeLessThan(66_000);
});
