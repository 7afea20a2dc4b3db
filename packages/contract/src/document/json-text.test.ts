import fc from 'fast-check';
import { expect, test } from 'vitest';

import { readJsonText } from './json-text.ts';

test.each<[string, readonly string[]]>([
  ['{"a":1,"a":2}', ['/a']],
  ['{"a":{"b":[{"c":1,"c":1}]}}', ['/a/b/0/c']],
  ['[{"a":1},{"a":2}]', []],
  ['{"a":"{\\"a\\":1}","b":"a"}', []],
  ['{"a\\u0062":1,"ab":2}', ['/ab']],
  ['{"x":[1,[2,{"y":1}],{"y":2,"y":3}]}', ['/x/2/y']],
  ['{"a/b":1,"a/b":2}', ['/a~1b']],
])('names the duplicate members of %s', (text, duplicates) => {
  expect(readJsonText(text).duplicates).toEqual(duplicates);
});

test('finds a byte order mark', () => {
  expect(readJsonText('\uFEFF{"a":1}')).toEqual({ value: { a: 1 }, hasByteOrderMark: true, duplicates: [] });
});

test('finds no duplicates in what JSON.stringify writes', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(readJsonText(JSON.stringify(value))).toMatchObject({ hasByteOrderMark: false, duplicates: [] });
    }),
  );
});
