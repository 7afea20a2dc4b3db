import { expect, test } from 'vitest';

import { counted } from './counted.ts';

test.each([
  [0, '0 invoices'],
  [1, '1 invoice'],
  [2, '2 invoices'],
])('%d: %s', (count, text) => {
  expect(counted(count, 'invoice')).toBe(text);
});
