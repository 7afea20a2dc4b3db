import * as fc from 'fast-check';
import { expect, test } from 'vitest';

import { documentLink, isSignatureOf, linkExpiry } from './document-link.ts';
import { publicUrlOf } from './public-url.ts';

const SECRET = 's'.repeat(32);
const signatureIn = (link: string): string => new URL(link).searchParams.get('signature') ?? '';

test('signs a link with 256 bits that depend only on its invoice, its expiry and the secret', () => {
  const access = { documentId: 'one', expires: 1_800_000_000 };
  const link = documentLink('https://api.example.com', access, SECRET);
  expect(link).toMatch(/^https:\/\/api\.example\.com\/invoices\/one\.pdf\?expires=1800000000&signature=[A-Za-z0-9_-]{43}$/);
  const signature = signatureIn(link);
  const secrets = { secret: SECRET };
  expect(isSignatureOf(signature, access, secrets)).toBe(true);
  expect(isSignatureOf(signature, access, { secret: 't'.repeat(32), previousSecret: SECRET })).toBe(true);
  expect(isSignatureOf(signature, { ...access, documentId: 'two' }, secrets)).toBe(false);
  expect(isSignatureOf(signature, { ...access, expires: access.expires + 1 }, secrets)).toBe(false);
  expect(isSignatureOf(signature, access, { secret: 't'.repeat(32) })).toBe(false);
  for (const wrong of ['', signature.slice(1), `${signature}x`, signature.toLowerCase()])
    expect(isSignatureOf(wrong, access, secrets)).toBe(false);
});

test('makes a link valid for at least its days and less than one more, and returns the same link for a whole day', () => {
  const day = 86_400;
  const instant = fc.integer({ min: 0, max: 4_102_444_800_000 });
  fc.assert(
    fc.property(instant, fc.integer({ min: 1, max: 3_650 }), (now, days) => {
      const left = linkExpiry(now, days) - now / 1000;
      expect(left).toBeGreaterThanOrEqual(days * day);
      expect(left).toBeLessThan((days + 1) * day);
    }),
  );
  expect(linkExpiry(Date.parse('2026-11-10T00:00:00.001Z'), 30)).toBe(linkExpiry(Date.parse('2026-11-10T23:59:59.999Z'), 30));
});

test.each([
  ['https://api.example.com', 'https://api.example.com'],
  ['https://api.example.com/', 'https://api.example.com'],
  ['http://127.0.0.1:4010/reseller/v1/', 'http://127.0.0.1:4010/reseller/v1'],
])('reads the public URL %s as %s', (text, url) => expect(publicUrlOf(text)).toBe(url));

test.each([
  '',
  'api.example.com',
  'ftp://api.example.com',
  'https://api.example.com/?x=1',
  'https://api.example.com/#x',
  'https://user:word@api.example.com',
  'javascript:alert(1)',
])("'%s' is not a public URL", (text) => expect(() => publicUrlOf(text)).toThrow(/Set it to the URL at which callers reach the service/));

test('removes several trailing slashes of a public URL', () =>
  expect(publicUrlOf('https://api.example.com/v1///')).toBe('https://api.example.com/v1'));

test('makes a link of midnight valid for exactly its days, and one of a millisecond later for a day more', () => {
  const midnight = Date.parse('2026-11-10T00:00:00.000Z');
  expect(linkExpiry(midnight, 30)).toBe(Date.parse('2026-12-10T00:00:00.000Z') / 1000);
  expect(linkExpiry(midnight + 1, 30)).toBe(Date.parse('2026-12-11T00:00:00.000Z') / 1000);
});
