import fc from 'fast-check';
import { expect, test } from 'vitest';

import { joined, markup } from './escaped.ts';

test('escapes every text, and does not escape its own markup', () => {
  const item = markup`<li title="${'"><script>'}">${"a & 'b'"}</li>`;
  expect(markup`<ul>${[item, undefined, 3]}</ul>`.text).toBe('<ul><li title="&quot;&gt;&lt;script&gt;">a &amp; &apos;b&apos;</li>3</ul>');
  expect(markup`${joined(['a', '<b>'], markup`<br>`)}`.text).toBe('a<br>&lt;b&gt;');
});

test('never lets a text open or close markup', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom('<', '>', '"', "'", '&', 'a', ' ') }), (text) => {
      expect(markup`${text}`.text).not.toMatch(/[<>"']/);
    }),
  );
});
