import { expect, test } from 'vitest';

import { boundedReads } from './bounded-reads.ts';

test('callers share a read that is in progress, do not wait for it longer than a second, and get later reads', async () => {
  const first = Promise.withResolvers<number>();
  let reads = 0;
  const read = boundedReads(() => (++reads === 1 ? first.promise : Promise.resolve(reads)));
  const begun = performance.now();
  expect(await Promise.all([read(), read(), read()])).toEqual([undefined, undefined, undefined]);
  expect(performance.now() - begun).toBeGreaterThanOrEqual(990);
  expect(await Promise.all([read(), (first.resolve(7), read())])).toEqual([7, 7]);
  expect([await read(), await read(), reads]).toEqual([2, 3, 3]);
});

test('a read that fails is undefined, and the next one is made', async () => {
  let reads = 0;
  const read = boundedReads(async () => {
    if (++reads === 1) throw new Error('away');
    return reads;
  });
  expect([await read(), await read()]).toEqual([undefined, 2]);
});

test.each([
  [0, 3],
  [3_600_000, 1],
])('of three reads with a maximum age of %i ms, %i are made', async (maxAgeMs, expected) => {
  let reads = 0;
  const read = boundedReads(async () => ++reads, maxAgeMs);
  for (let call = 0; call < 3; call++) await read();
  expect(reads).toBe(expected);
});
