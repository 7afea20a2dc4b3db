import { expect, test } from 'vitest';

import { documentNumber } from './document-number.ts';

test.each([
  ['INV-', 5, 1, 'INV-00001'],
  ['INV-', 5, 99_999, 'INV-99999'],
  ['INV-', 5, 100_000, 'INV-100000'],
  ['', 1, 7, '7'],
])('prefix "%s" with %i digits: number %i is %s', (prefix, digits, number, text) => {
  expect(documentNumber({ prefix, digits }, number)).toBe(text);
});
