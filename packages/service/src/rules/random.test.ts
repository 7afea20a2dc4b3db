import fc from 'fast-check';
import { expect, test } from 'vitest';

import { randomInteger, randomText } from './random.ts';
import type { Random } from './random.ts';

/** Returns the given 32-bit numbers one after the other, within a larger buffer like Node. */
function drawing(...numbers: readonly number[]): Random & { readonly left: number[] } {
  const left = [...numbers];
  return {
    left,
    bytes(count) {
      const bytes = new Uint8Array(count + 3).subarray(3);
      new DataView(bytes.buffer, bytes.byteOffset).setUint32(0, left.shift() ?? 0);
      return bytes;
    },
  };
}

test.each([
  [1, 0xff_ff_ff_ff, 0],
  [10, 7, 7],
  [10, 10, 0],
  [2 ** 32, 0xff_ff_ff_ff, 0xff_ff_ff_ff],
  // The last number below a multiple of 3.
  [3, 0xff_ff_ff_fe, 2],
])('maps, below %d, the random number %d to %d', (limit, number, drawn) => {
  expect(randomInteger(drawing(number), limit)).toBe(drawn);
});

test('draws again if a number would make the lowest integers more probable', () => {
  // 2^32 is 3 x 1,431,655,765 + 1.
  const random = drawing(0xff_ff_ff_ff, 5);
  expect(randomInteger(random, 3)).toBe(2);
  expect(random.left).toEqual([]);
});

test('returns a text of the given length, with a character for each random number', () => {
  expect(randomText(drawing(0, 2, 1, 3), 'abc', 4)).toBe('acba');
  expect(randomText(drawing(), 'abc', 0)).toBe('');
});

test('returns an integer below its limit', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 2 ** 32 }), fc.array(fc.nat(0xff_ff_ff_ff), { maxLength: 5 }), (limit, numbers) => {
      const drawn = randomInteger(drawing(...numbers), limit);
      expect(drawn >= 0 && drawn < limit).toBe(true);
    }),
  );
});
