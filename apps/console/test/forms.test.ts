import { parseDocument, readOperations } from '@reseller/contract';
import operatorDocument from '@reseller/openapi/operator.json' with { type: 'json' };
import { expect, test } from 'vitest';

import { forms } from '../src/document/forms.data.ts';
import { bodyOf, initialValues, rowsIn, withoutRow } from '../src/ui/form.ts';
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
