import { parseDocument, readOperations } from '@reseller/contract';
import operatorDocument from '@reseller/openapi/operator.json' with { type: 'json' };
import { describe, expect, test } from 'vitest';

import type { Field } from '../src/document/fields.ts';
import { forms } from '../src/document/forms.data.ts';
import { quantityOf, quantityText } from '../src/document/units.ts';
import { bodyOf, dayIn, hasDay, initialValues, rowsIn, withoutRow } from '../src/ui/form.ts';
import { visible } from '../src/ui/visible.ts';

const examples = readOperations(parseDocument(operatorDocument)).flatMap(({ id, method, body }) =>
  method === 'GET' ? [] : Object.entries(body?.examples ?? {}).map(([name, { value }]) => ({ id, name, value })),
);

test.each(examples)('the form of $id can send the example $name', ({ id, value }) => {
  const fields = forms[id]?.body ?? [];
  const sent = bodyOf(fields, initialValues(fields, value));
  // A form leaves out an optional field instead of sending null, which means the same, and sends a box that is not checked.
  const given = Object.entries(Object(value)).filter(([, member]) => member !== null);
  expect(sent).toMatchObject(Object.fromEntries(given));
});

test('a form without one of 12 rows keeps the other eleven in their order', () => {
  const rows = Array.from({ length: 12 }, (_, index) => [`rates.${index}.country`, String(index)]);
  const left = withoutRow({ ...Object.fromEntries(rows), 'rates.rows': '12', note: 'kept' }, 'rates', 0);
  expect(rowsIn(left, 'rates')).toBe(11);
  expect(left).toEqual({
    ...Object.fromEntries(Array.from({ length: 11 }, (_, index) => [`rates.${index}.country`, String(index + 1)])),
    'rates.rows': '11',
    note: 'kept',
  });
});

describe('a number that the document has in a unit of programs', () => {
  const fields = forms['setVatRates']?.body ?? [];
  const sentFor = (rate: string) => bodyOf(fields, { ...initialValues(fields, { vat_rates: [{}] }), 'vat_rates.0.basis_points': rate });

  test.each([
    ['0', 0],
    ['0.01 %', 1],
    ['0.02%', 2],
    ['7 %', 700],
    ['19', 1_900],
    ['19.00', 1_900],
    [' 19 % ', 1_900],
    ['19.5 %', 1_950],
    ['99.99 %', 9_999],
    ['100', 10_000],
  ])('%s is sent as %d basis points', (text, basis_points) => {
    expect(sentFor(text)).toMatchObject({ vat_rates: [{ basis_points }] });
  });

  test.each([
    ['19,5', 'must be a number with its unit, such as 19 %'],
    ['nineteen', 'must be a number with its unit, such as 19 %'],
    ['-1', 'must be a number with its unit, such as 19 %'],
    ['19 h', 'must be a number with its unit, such as 19 %'],
    ['19.005', 'must be a multiple of 0.01 %'],
    ['100.01', 'must be at most 100 %'],
    ['1900', 'must be at most 100 %'],
  ])('%s is refused at its field', (text, message) => {
    expect(() => sentFor(text)).toThrow(expect.objectContaining({ path: 'vat_rates.0.basis_points', message }));
  });

  test('the number of each unit returns as itself, and without a unit where there are several it is refused', () => {
    const withUnit = Object.values(forms)
      .flatMap(({ body }) => body.flatMap(withInner))
      .filter((field) => field.unit !== undefined);
    expect(new Set(withUnit.map(({ unit }) => unit))).toEqual(new Set(['basis points', 'bytes', 'MB', 'milliseconds', 'seconds']));
    for (const { unit = '', bounds: [least = 0, most = 1] = [], name } of withUnit) {
      for (const value of [least, least + 1, 3_599, 86_400, most - 1, most]) {
        const text = quantityText(unit, value);
        expect([name, text, quantityOf(unit, text)]).toEqual([name, text, value]);
      }
    }
    expect(() => quantityOf('seconds', '24')).toThrow('must be a number with its unit, such as 1 s or 1 min or 1 h or 1 d');
    expect([quantityOf('seconds', '24 H'), quantityOf('bytes', '0.5 GiB'), quantityOf('MB', '1.5 GB')]).toEqual([
      86_400, 536_870_912, 1_536,
    ]);
    expect([quantityText('seconds', 86_400), quantityText('seconds', 5_400), quantityText('bytes', 1e9)]).toEqual([
      '1 d',
      '90 min',
      '1 GB',
    ]);
  });

  test('no label and no hint names the unit of programs', () => {
    const [rate] = fields[0]?.fields ?? [];
    expect(rate).toMatchObject({ title: 'Rate', description: 'The rate.' });
    expect(forms['rotateApiKey']?.body[0]).toMatchObject({
      title: 'Overlap',
      description: 'Time for which the old key stays valid after the new key is issued; at most 30 days.',
    });
    const memory = forms['defineHostSystem']?.body.flatMap(({ fields: inner = [] }) => inner).find(({ name }) => name === 'mem');
    expect(memory?.fields?.map(({ unit }) => unit)).toEqual(['MB', 'MB', 'MB']);
  });
});

function withInner(field: Field): Field[] {
  const { fields = [], variants = [] } = field;
  return [field, ...[...fields, ...variants.flatMap((variant) => variant.fields)].flatMap(withInner)];
}

test('a removed row leaves the others in their order', () => {
  const fields = forms['setVatRates']?.body ?? [];
  const rates = [700, 1900, 1600].map((basis_points, index) => ({ basis_points, valid_from: `202${index}-01-01` }));
  const values = initialValues(fields, { vat_rates: rates });
  const left = withoutRow(values, 'vat_rates', 1);
  expect(rowsIn(left, 'vat_rates')).toBe(2);
  expect(bodyOf(fields, left)).toEqual({ vat_rates: [rates[0], rates[2]] });
});

test('an instant without seconds is sent with them', () => {
  const fields = forms['createSale']?.body ?? [];
  expect(bodyOf(fields, { ...initialValues(fields, {}), start_date: '2026-11-04T14:46' })).toMatchObject({
    start_date: '2026-11-04T14:46:00Z',
  });
});

test('characters that change the direction of a text are visible', () => {
  expect(visible('Demo \u202Egnissim\u200B')).toBe('Demo ⟨U+202E⟩gnissim⟨U+200B⟩');
});

test.each([
  ['Europe/Berlin', '2026-12-01'],
  ['America/New_York', '2026-11-30'],
  ['Pacific/Kiritimati', '2026-12-01'],
])('a payment is dated with the day of the provider in %s', (timeZone, day) => {
  const today = dayIn(timeZone, new Date('2026-11-30T23:30:00Z'));
  const fields = forms.recordPayment?.body ?? [];
  expect([hasDay(fields), initialValues(fields, {}, { today })['date']]).toEqual([true, day]);
});
