import * as fc from 'fast-check';
import { expect, test } from 'vitest';

import { cutForm } from './masking.ts';

test('keeps a form of 4,096 characters, and cuts a longer one', () => {
  const form = (length: number) => `{"x":"${'a'.repeat(length - 8)}"}`;
  expect(cutForm(form(4_096))).toBe(form(4_096));
  expect(JSON.parse(cutForm(form(4_097)))).toEqual({ x: `${'a'.repeat(256)}…[cut: 4089 characters]` });
});

test('says how many fields were omitted', () => {
  const form = Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`field${index}`, 'a']));
  const cut: Record<string, string> = JSON.parse(cutForm(JSON.stringify(form)));
  const shown = Object.keys(cut).length - 1;
  expect(shown).toBeGreaterThan(100);
  expect(cut['…']).toBe(`[cut: ${1_000 - shown} more fields]`);
  expect(cut['field0']).toBe('a');
});

test('returns a JSON object of at most 5,000 characters for any form', () => {
  const text = fc.oneof(
    fc.string(),
    fc.string({ unit: 'binary' }),
    fc.string({ minLength: 5_000, maxLength: 20_000 }),
    fc.constant('\u0001'.repeat(9_000)),
  );
  fc.assert(
    fc.property(fc.dictionary(text, fc.oneof(text, fc.array(text, { maxLength: 3 }))), (form) => {
      const cut = cutForm(JSON.stringify(form));
      expect(typeof JSON.parse(cut)).toBe('object');
      expect(cut.length).toBeLessThanOrEqual(5_000);
    }),
  );
});
