import { runInNewContext } from 'node:vm';

import { expect, test } from 'vitest';

import { isError } from './is-error.ts';

test.each(['new Error()', 'new TypeError()', 'new (class MyError extends Error {})()'])('%s of another realm is an error', (source) => {
  const error: unknown = runInNewContext(source);
  expect(error).not.toBeInstanceOf(Error);
  expect(isError(error)).toBe(true);
});

test('values that are not errors', () => {
  for (const value of [undefined, null, 'Error', {}, { message: 'x', stack: 'y' }]) expect(isError(value)).toBe(false);
  expect(isError(AbortSignal.abort().reason)).toBe(true);
});
