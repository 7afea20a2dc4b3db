import fc from 'fast-check';
import { expect, test } from 'vitest';

import { csvRow } from './csv.ts';

test.each([
  [['a', 1, null, 'b'], 'a,1,,b\r\n'],
  [['a, b', 'say "yes"', 'two\nlines'], '"a, b","say ""yes""","two\nlines"\r\n'],
  [['=1+1', '+49', '-1', '@sum', '\t=1', ' =1'], "'=1+1,'+49,'-1,'@sum,'\t=1,' =1\r\n"],
  [[-1, 0.5], '-1,0.5\r\n'],
])('%j is the row %j', (fields, row) => {
  expect(csvRow(fields)).toBe(row);
});

test('a reader gets each text back, with an apostrophe before a formula', () => {
  const texts = fc.array(fc.oneof(fc.string(), fc.constantFrom('=a', '"', ',', '\r\n', '@', "'=x")), { minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(texts, (fields) => {
      const read = fieldsOf(csvRow(fields));
      expect(read.map((text, index) => (text === fields[index] ? text : text.replace(/^'/, '')))).toEqual(fields);
      for (const text of read) expect(text).not.toMatch(/^\s*[=+\-@]/);
    }),
  );
});

/** The fields of a row by RFC 4180. */
function fieldsOf(row: string): string[] {
  const fields = [...`,${row.slice(0, -2)}`.matchAll(/,(?:"((?:[^"]|"")*)"|([^",]*))/g)];
  return fields.map(([, quoted, plain = '']) => (quoted === undefined ? plain : quoted.replaceAll('""', '"')));
}
