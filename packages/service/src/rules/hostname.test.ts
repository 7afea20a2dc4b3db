import { expect, test } from 'vitest';

import { isFullyQualified } from './hostname.ts';

const label = (length: number): string => 'a'.repeat(length);
/** A name of 63 + 1 + 63 + 1 + 63 + 1 characters and a last label. */
const named = (last: number): string => [label(63), label(63), label(63), label(last)].join('.');

test.each([
  'a.b',
  'a.b.',
  'A.B',
  'a-b.c-d',
  '1.b',
  'a.1b',
  'a.b1',
  'a.b1c',
  `${label(63)}.b`,
  `a.${label(63)}`,
  named(61),
  `${named(61)}.`,
])('%s is fully qualified', (name) => expect(isFullyQualified(name)).toBe(true));

test.each([
  '',
  '.',
  'a',
  'a.',
  '.a.b',
  'a..b',
  'a.b..',
  '-a.b',
  'a-.b',
  'a.-b',
  'a.b-',
  'a_b.c',
  'a b.c',
  'a.1',
  'a.127',
  'b.a.1',
  `${label(64)}.b`,
  `a.${label(64)}`,
  named(62),
  `${named(62)}.`,
])("'%s' is not fully qualified", (name) => expect(isFullyQualified(name)).toBe(false));
