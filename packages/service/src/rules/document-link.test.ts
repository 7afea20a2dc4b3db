import { expect, test } from 'vitest';

import { documentLink, isSignatureOf, publicUrlOf } from './document-link.ts';

const SECRET = 's'.repeat(32);
const signatureIn = (link: string): string => new URL(link).searchParams.get('signature') ?? '';

test('a link has a signature of 256 bits that its invoice and secret alone give', () => {
  const link = documentLink('https://api.example.com', 'one', SECRET);
  expect(link).toMatch(/^https:\/\/api\.example\.com\/invoices\/one\.pdf\?signature=[A-Za-z0-9_-]{43}$/);
  const signature = signatureIn(link);
  expect(isSignatureOf(signature, 'one', { secret: SECRET })).toBe(true);
  expect(isSignatureOf(signature, 'two', { secret: SECRET })).toBe(false);
  expect(isSignatureOf(signature, 'one', { secret: 't'.repeat(32) })).toBe(false);
  expect(
    ['', signature.slice(1), `${signature}x`, signature.toLowerCase()].map((wrong) => isSignatureOf(wrong, 'one', { secret: SECRET })),
  ).toEqual([false, false, false, false]);
});

test.each([
  ['https://api.example.com', 'https://api.example.com'],
  ['https://api.example.com/', 'https://api.example.com'],
  ['http://127.0.0.1:4010/reseller/v1/', 'http://127.0.0.1:4010/reseller/v1'],
])('the public URL %s is %s', (text, url) => expect(publicUrlOf(text)).toBe(url));

test.each([
  '',
  'api.example.com',
  'ftp://api.example.com',
  'https://api.example.com/?x=1',
  'https://api.example.com/#x',
  'https://user:word@api.example.com',
  'javascript:alert(1)',
])("'%s' is not a public URL", (text) => expect(() => publicUrlOf(text)).toThrow(/Set it to the URL at which callers reach the service/));
