import fc from 'fast-check';
import { expect, test } from 'vitest';

import { asciiNameOf, splitName, suffixesOf } from './domain-name.ts';

test.each([
  ['Reseller-Customer.NET', 'reseller-customer.net'],
  ['bücher.de', 'xn--bcher-kva.de'],
  ['BÜCHER.de', 'xn--bcher-kva.de'],
  ['xn--bcher-kva.de', 'xn--bcher-kva.de'],
  // IDNA 2008: ß is a separate letter, not "ss".
  ['faß.de', 'xn--fa-hia.de'],
  ['пример.рф', 'xn--e1afmkfd.xn--p1ai'],
  ['例え.jp', 'xn--r8jz45g.jp'],
  ['paral·lel.cat', 'xn--parallel-koa.cat'],
  ['نامه\u200cای.com', 'xn--mgba3gch31f060k.com'],
])('%s is %s', (text, name) => expect(asciiNameOf(text)).toBe(name));

test.each([
  'de',
  '',
  'a..de',
  '.a.de',
  'a.de.',
  '-a.de',
  'a-.de',
  'a_b.de',
  'a b.de',
  'a/b.de',
  'a@b.de',
  'a:80.de',
  '%41.de',
  '[::1]',
  '1.2.3.4',
  '0x7f.1',
  '１２７.１',
  'a.de\u0000',
  'a.1',
  'ab--c.de',
  'xn--a.de',
  'xn--.de',
  'xn--zzzzz999.com',
  '💩.de',
  `${'a'.repeat(64)}.de`,
  `${'ü'.repeat(60)}.de`,
  `${'a.'.repeat(126)}de`,
  'x'.repeat(100_000),
])("'%s' is not a domain name", (text) => expect(asciiNameOf(text)).toBeUndefined());

test('returns an ASCII form unchanged, for any text', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.domain(),
        fc.string({ unit: 'grapheme' }).map((label) => `${label}.de`),
      ),
      (text) => {
        const name = asciiNameOf(text);
        if (name === undefined) return;
        expect(name).toMatch(/^[a-z0-9.-]{3,253}$/);
        expect(asciiNameOf(name)).toBe(name);
      },
    ),
  );
});

const priced = new Set(['de', 'net', 'uk', 'co.uk', 'com.de', 'xn--p1ai']);

test.each([
  ['a.de', 'a', 'de'],
  ['a.co.uk', 'a', 'co.uk'],
  ['a.uk', 'a', 'uk'],
  // A name below another TLD that is on the price list, although no registry has this suffix.
  ['a.com.de', 'a', 'com.de'],
  ['xn--e1afmkfd.xn--p1ai', 'xn--e1afmkfd', 'xn--p1ai'],
])('%s is %s below %s', (name, sld, tld) => expect(splitName(name, priced)).toEqual({ name, sld, tld }));

test.each([
  ['a.zz', 'tld'],
  ['a.github.io', 'tld'],
  // The suffix is org.uk, which has no price. The price of uk does not apply to it.
  ['a.org.uk', 'tld'],
  ['b.a.de', 'registrable'],
  ['b.a.co.uk', 'registrable'],
  ['co.uk', 'registrable'],
])('%s cannot be registered: %s', (name, rule) =>
  expect(splitName(name, priced)).toMatchObject({ rule, message: expect.stringMatching(/^must /) }),
);

test('splits a name that can be registered into its label and its TLD', () => {
  const names = fc
    .tuple(fc.domain(), fc.constantFrom('de', 'co.uk', 'net', 'org.uk', 'com.de'))
    .map(([left, tld]) => `${left.split('.')[0]}.${tld}`);
  fc.assert(
    fc.property(names, (name) => {
      const split = splitName(name, priced);
      if ('rule' in split) expect(name).toMatch(/\.org\.uk$/);
      else expect([`${split.sld}.${split.tld}`, split.sld.includes('.')]).toEqual([name, false]);
    }),
  );
});

test('returns the longest suffix first', () => expect(suffixesOf('a.co.uk')).toEqual(['co.uk', 'uk']));

/** A name of 64 x 3 characters with dots, followed by labels of the given lengths. */
const long = (...last: readonly number[]): string => [63, 63, 63, ...last].map((length) => 'a'.repeat(length)).join('.');

test('limits a name to 253 characters and a label to 63', () => {
  expect([long(61).length, long(62).length]).toEqual([253, 254]);
  expect(asciiNameOf(long(61))).toBe(long(61));
  expect(asciiNameOf(long(62))).toBeUndefined();
  expect(asciiNameOf(`${'a'.repeat(63)}.de`)).toBe(`${'a'.repeat(63)}.de`);
});

test('accepts an encoded label only in the canonical encoding of its characters', () => {
  // Each label decodes, but its characters have a different encoding.
  for (const name of ['xn--BCHER-KVA.de', 'XN--bcher-kva.de']) expect(asciiNameOf(name)).toBe('xn--bcher-kva.de');
  expect(asciiNameOf('aa--bcher-kva.de')).toBeUndefined();
});

test('names the invalid part of a name that cannot be registered', () => {
  const message = (name: string) => splitName(name, priced);
  expect(message('co.uk')).toEqual({ rule: 'registrable', message: 'must be a name below a TLD; co.uk is a TLD itself' });
  expect(message('a.zz')).toEqual({ rule: 'tld', message: 'must end in a TLD that GET /domain/pricings lists; zz is not one of them' });
  expect(message('a.org.uk')).toEqual({
    rule: 'tld',
    message: 'must end in a TLD that GET /domain/pricings lists; org.uk is not one of them',
  });
  expect(message('b.a.co.uk')).toEqual({
    rule: 'registrable',
    message: 'must be a name directly below the TLD co.uk, without a subdomain',
  });
});
