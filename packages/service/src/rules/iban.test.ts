import fc from 'fast-check';
import { expect, test } from 'vitest';

import { hasValidCheckDigits } from './iban.ts';

const VALID = ['DE02120300000000202051', 'GB82WEST12345698765432', 'NL91ABNA0417164300', 'HU42117730161111101800000000', 'NO9386011117947'];

test.each(VALID)('accepts %s', (iban) => expect(hasValidCheckDigits(iban)).toBe(true));

test('refuses an IBAN with a wrong digit or two transposed neighbours', () => {
  const changed = fc
    .constantFrom(...VALID)
    .chain((iban) => fc.record({ iban: fc.constant(iban), at: fc.nat(iban.length - 1), digit: fc.integer({ min: 1, max: 9 }) }));
  fc.assert(
    fc.property(changed, ({ iban, at, digit }) => {
      const character = iban[at] ?? '';
      if (/\d/.test(character)) {
        const other = String((Number(character) + digit) % 10);
        expect(hasValidCheckDigits(iban.slice(0, at) + other + iban.slice(at + 1))).toBe(false);
      }
      const next = iban[at + 1];
      if (at >= 4 && next !== undefined && next !== character)
        expect(hasValidCheckDigits(iban.slice(0, at) + next + character + iban.slice(at + 2))).toBe(false);
    }),
  );
});

test.each(['', 'DE', 'de02120300000000202051', 'DE02 1203 0000 0000 2020 51'])('refuses the text "%s"', (text) =>
  expect(hasValidCheckDigits(text)).toBe(false),
);
