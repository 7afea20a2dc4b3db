import { expect, test } from 'vitest';

import { formatOfVatId, hasKnownPrefix, vatPrefixesOf } from './vat-id.ts';

const RIGHT = [
  'ATU12345678',
  'BE0123456789',
  'BE1123456789',
  'BG123456789',
  'BG1234567890',
  'CY12345678X',
  'CZ12345678',
  'CZ1234567890',
  'DE123456789',
  'DK12345678',
  'EE123456789',
  'EL123456789',
  'ESX12345678',
  'ESX1234567X',
  'ES12345678X',
  'FI12345678',
  'FR12345678901',
  'FRX9345678901',
  'HR12345678901',
  'HU12345678',
  'IE1234567WA',
  'IE1+34567W',
  'IT12345678901',
  'LT123456789',
  'LT123456789012',
  'LU12345678',
  'LV12345678901',
  'MT12345678',
  'NL123456789B01',
  'PL1234567890',
  'PT123456789',
  'RO12',
  'RO1234567890',
  'SE123456789001',
  'SI12345678',
  'SK1234567890',
  'XI123456789',
  'XI123456789012',
  'XIGD123',
];

test.each(RIGHT)('accepts %s', (vatId) => {
  expect(formatOfVatId(vatId)).toBeUndefined();
});

// Each has a length of one less than the shortest, or one more than the longest, of its country.
test.each([...new Set(RIGHT.map((vatId) => vatId.slice(0, 2)))])('refuses identifiers of %s that are too short or too long', (country) => {
  const own = RIGHT.filter((vatId) => vatId.startsWith(country)).toSorted((one, other) => one.length - other.length);
  const [shortest = '', longest = ''] = [own[0], own.at(-1)];
  const named = [shortest.slice(0, -1), `${longest}0`].map((wrong) => formatOfVatId(wrong)?.slice(0, 2));
  expect(named).toEqual([country, country]);
});

test('names the prefix of Greece', () => expect(formatOfVatId('GR123456789')).toBe('EL123456789'));

test('accepts every format of other countries', () => {
  for (const vatId of ['GB123456789', 'CHE123456789', 'NO123456789MVA']) expect(formatOfVatId(vatId)).toBeUndefined();
});

test.each(['XX123456', 'EU123456789', 'GR123456789', 'UK123456789', 'IM123456789'])('knows no country with the prefix of %s', (vatId) => {
  expect(hasKnownPrefix(vatId)).toBe(false);
});

test.each([...RIGHT, 'GB123456789', 'CHE123456789', 'NO123456789MVA'])('knows the prefix of %s', (vatId) => {
  expect(hasKnownPrefix(vatId)).toBe(true);
});

test.each([
  ['DE', ['DE']],
  ['GR', ['EL']],
  ['GB', ['GB', 'XI']],
  ['CH', ['CH']],
])('names the prefixes of %s', (country, prefixes) => {
  expect(vatPrefixesOf(country)).toEqual(prefixes);
});
