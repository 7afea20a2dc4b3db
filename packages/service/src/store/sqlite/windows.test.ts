import { expect, test } from 'vitest';

import { memoryWindows } from './windows.ts';

const MINUTE = 60_000;

test('keeps the counters of keys and other addresses during an attack from many addresses', async () => {
  const windows = memoryWindows(10);
  await windows.count('guesses of a token', '192.0.2.1', MINUTE);
  for (let n = 0; n < 99; n++) await windows.count('guesses of a key', '192.0.2.1', MINUTE);
  for (let n = 0; n < 1_000; n++) await windows.count('guesses of a key', `198.51.100.${n}`, MINUTE);
  const count = async (kind: Parameters<typeof windows.count>[0], name: string) => (await windows.count(kind, name, MINUTE)).count;
  expect(await count('guesses of a key', '192.0.2.1')).toBe(100);
  expect(await count('guesses of a token', '192.0.2.1')).toBe(2);
  // Nine addresses of the attacker had their own counter. The others share one, so that more addresses give no more attempts.
  expect(await count('guesses of a key', '198.51.100.8')).toBe(2);
  expect(await count('guesses of a key', 'a new address')).toBe(992);
});

test('replaces ended windows by new ones', async () => {
  const windows = memoryWindows(2);
  for (const name of ['one', 'two', 'three']) expect((await windows.count('guesses of a key', name, 1)).endsIn).toBeLessThanOrEqual(1);
  const end = performance.now() + 2;
  await expect.poll(() => performance.now(), { interval: 1 }).toBeGreaterThan(end);
  for (const name of ['four', 'five']) expect((await windows.count('guesses of a key', name, MINUTE)).count).toBe(1);
});
