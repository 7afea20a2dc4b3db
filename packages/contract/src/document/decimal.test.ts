import fc from 'fast-check';
import { expect, test } from 'vitest';

import { isMultiple } from './decimal.ts';

test.each<[number, number, boolean]>([
  [19.99, 0.01, true],
  [0.07, 0.01, true],
  [19.999, 0.01, false],
  [1e21, 10, true],
  [1e-7, 0.01, false],
  [0, 0.01, true],
  [-4.35, 0.05, true],
  [7, 2, false],
])('%d as a multiple of %d: %j', (value, factor, expected) => {
  expect(isMultiple(value, factor)).toBe(expected);
});

test('every amount of whole cents is a multiple of a cent', () => {
  fc.assert(
    fc.property(fc.integer({ min: -1e12, max: 1e12 }), (cents) => {
      expect(isMultiple(cents / 100, 0.01)).toBe(true);
    }),
  );
});
