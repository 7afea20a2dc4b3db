/** How the site turns the words and remarks of the documents into marks. Each mark is written here as its words and its state. */
import { expect, test } from 'vitest';

import { fieldsOf } from '../src/fields.ts';
import { inlineMarks, limitMarks, MARKS } from '../src/provenance.ts';
import type { Mark } from '../src/provenance.ts';

const mark: Mark = (provenance, words = MARKS[provenance].word) => `[${words}|${provenance}]`;

test.each([
  ['Login name (inferred).', 'Login name [inferred|inferred].'],
  ['In steps of 100 (not shown). Up to 5000.', 'In steps of 100 [assumed|not-shown]. Up to 5000.'],
  ['Nothing is charged (not shown in the specification).', 'Nothing is charged [assumed|not-shown].'],
  ['In GB (the unit is inferred); only here.', 'In GB [unit inferred|inferred]; only here.'],
  ['Price. It is inferred that it is in EUR.', 'Price. It is in EUR. [inferred|inferred]'],
  ['It includes 1000; it is inferred that it offers no more.', 'It includes 1000; it offers no more [inferred|inferred].'],
  ['Code. Not shown: it is null at first.', 'Code. It is null at first. [assumed|not-shown]'],
  [
    'Its unit is not shown in the specification; this service returns seconds.',
    'Its unit: this service returns seconds. [assumed|not-shown]',
  ],
  ['Its format is not shown in the specification.', 'Its format: [not specified|not-shown]'],
  ['`PAID` was seen and `VOID` is inferred.', '`PAID` was seen and `VOID` [inferred|inferred].'],
])('%j has its provenance as a mark', (sentence, shown) => {
  expect(inlineMarks(sentence, mark)).toBe(shown);
});

test.each([
  ['Name.\n\n*Limits inferred.*', '[limits inferred|inferred]'],
  ['Name.\n\n*Limits not shown; they are our choice.*', '[limits assumed|not-shown]'],
  [
    'Name.\n\n*Limits not shown; they are our choice. Shown: `minimum`, `maxItems`.*',
    '[limits assumed|not-shown] [minimum, max items shown|shown]',
  ],
  ['Name.\n\n*Limits inferred. Not shown: `pattern`.*', '[limits inferred|inferred] [pattern assumed|not-shown]'],
  ['Name.', ''],
])('the remark on limits in %j becomes a mark', (description, shown) => {
  expect(limitMarks(description, mark)).toBe(shown);
});

test.each([
  [{ type: 'integer', minimum: 1 }, 'integer, 1 or more', ''],
  [{ type: 'integer', minimum: 100, maximum: 5000, multipleOf: 100 }, 'integer, 100 to 5000 in steps of 100', ''],
  [{ type: 'number', maximum: 100 }, 'number, up to 100', ''],
  [
    { type: 'string', maxLength: 120, 'x-expected': 'text that is not blank, without control characters' },
    'string',
    'Up to 120 characters.',
  ],
  [{ type: 'string', minLength: 2, maxLength: 2, 'x-expected': 'two letters, such as DE' }, 'string', 'Format: two letters, such as DE.'],
  [
    { type: 'string', maxLength: 253, 'x-expected': 'a hostname, such as web1: labels of letters, separated by dots' },
    'string',
    'Up to 253 characters. Format: a hostname, such as web1.',
  ],
  [{ type: 'string', format: 'uuid', maxLength: 36 }, 'string', ''],
])('the limits of %j read like a sentence', (schema, type, meaning) => {
  const document = { components: { schemas: {}, parameters: {}, responses: {}, examples: {} } };
  const [field] = fieldsOf(document, { properties: { name: schema } }, { inherited: 'shown', mark });
  expect([field?.type, field?.meaning]).toEqual([type, meaning]);
});
