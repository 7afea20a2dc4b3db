import { expect, test } from 'vitest';

import { allCountries, countryOf, phoneOf } from './contact.ts';

test('the list of countries has those of ISO 3166 by name', () => {
  expect(allCountries.length).toBeGreaterThanOrEqual(249);
  expect(allCountries).toContainEqual({ code: 'DE', title: 'Germany' });
  expect(countryOf('nl')).toEqual({ code: 'NL', title: 'Netherlands' });
  expect(new Set(allCountries.map(({ code }) => code)).size).toBe(allCountries.length);
});

test.each(['ZZ', '', 'DEU', '276', '__proto__', 'ß'])("'%s' is not a country", (code) => expect(countryOf(code)).toBeUndefined());

test.each([
  ['+49.6955501234', 'DE', '+49.6955501234'],
  ['069 5550-1234', 'DE', '+49.6955501234'],
  ['+49 (0)69 55501234', 'NL', '+49.6955501234'],
  ['020 123 4567', 'NL', '+31.201234567'],
])('%s in %s is %s', (text, country, phone) => expect(phoneOf(text, country)).toBe(phone));

test.each([
  ['123', 'DE'],
  ['+999 123456', 'DE'],
  ['call +49 69 55501234', 'DE'],
  ['+49 69 55501234 ext. 5', 'DE'],
  ['069 55501234', 'AQ'],
  ['+49.6955501234\u0000', 'DE'],
  ['069 55501234', ''],
])("'%s' in '%s' is not a phone number", (text, country) => expect(phoneOf(text, country)).toBeUndefined());

test.each(['DEU', 'xDE', 'DE ', ' DE', 'D'])("'%s' is not a country, although it contains one", (code) =>
  expect(countryOf(code)).toBeUndefined(),
);

test('returns countries with their official names, in the order of the names', () => {
  expect(countryOf('GB')?.title).toBe('United Kingdom');
  const titles = allCountries.map(({ title }) => title);
  expect(titles).toEqual(titles.toSorted((one, other) => one.localeCompare(other, 'en')));
});
