import { parseDocument, readForm, readOperations } from '@reseller/contract';
import fc from 'fast-check';
import { expect, test } from 'vitest';

import { factsOf } from '../generate/facts.ts';
import { writeGroups } from '../generate/signatures.ts';
import { encodeForm } from '../src/runtime/form.ts';
import type { Refuse, Values } from '../src/runtime/form.ts';
import type { Field } from '../src/runtime/operation.ts';

/** A form with everything that a form can have. The document's own forms have less. */
const document = parseDocument({
  openapi: '3.1.0',
  info: { title: 'A form', version: '1' },
  paths: {
    '/a': {
      post: {
        operationId: 'sendForm',
        'x-retry': 'safe',
        requestBody: {
          required: true,
          content: {
            'application/x-www-form-urlencoded': {
              schema: {
                type: 'object',
                required: ['text'],
                dependentRequired: { whole: ['part'] },
                properties: {
                  text: { type: 'string', 'x-secret': true },
                  name: { type: 'string', 'x-personal': true },
                  whole: { type: 'integer' },
                  part: { type: 'number' },
                  yes: { type: 'boolean' },
                  day: { type: 'string', format: 'date' },
                  instant: { type: 'string', format: 'date-time' },
                  repeated: { type: 'array', items: { type: 'string' } },
                  commas: { type: 'array', items: { type: 'string' } },
                  spaces: { type: 'array', items: { type: 'integer' } },
                  pipes: { type: 'array', items: { type: 'boolean' } },
                },
              },
              encoding: {
                commas: { style: 'form', explode: false },
                spaces: { style: 'spaceDelimited', explode: false },
                pipes: { style: 'pipeDelimited', explode: false },
              },
            },
          },
        },
        responses: { 200: { description: 'Done.' } },
      },
    },
  },
});

const [operation] = readOperations(document);
if (!operation) throw new Error('The document has no operation.');
const { form = {} } = factsOf(document, operation);

const encode = (values: Values, refuse: Refuse, showPersonal = false) => {
  const fields = encodeForm(form, values, refuse, showPersonal);
  return { sent: fields.map(({ sent }) => sent), shown: fields.map(({ shown }) => shown) };
};

test('the facts of a form follow from its schema and encoding', () => {
  expect(form).toEqual({
    text: { type: 'string', required: true, secret: true },
    name: { type: 'string', personal: true },
    whole: { type: 'integer', needs: ['part'] },
    part: { type: 'number' },
    yes: { type: 'boolean' },
    day: { type: 'date' },
    instant: { type: 'date-time' },
    repeated: { type: 'string', separator: '&' },
    commas: { type: 'string', separator: ',' },
    spaces: { type: 'integer', separator: ' ' },
    pipes: { type: 'boolean', separator: '|' },
  } satisfies Record<string, Field>);
});

test('a rule that the specification does not show is left to the server', () => {
  const rule = { 'x-constraints': { dependentRequired: 'not-shown' }, dependentRequired: { a: ['b'] } };
  const schema = { type: 'object', ...rule, properties: { a: { type: 'string' }, b: { type: 'string' } } };
  const content = { 'application/x-www-form-urlencoded': { schema } };
  const post = { operationId: 'b', 'x-retry': 'safe', requestBody: { content }, responses: { 200: { description: 'Done.' } } };
  const loose = parseDocument({ openapi: '3.1.0', info: { title: '', version: '1' }, paths: { '/b': { post } } });
  expect(readOperations(loose).map((each) => factsOf(loose, each).form)).toEqual([{ a: { type: 'string' }, b: { type: 'string' } }]);
});

test('the generator names an operation without a place, and a place without an operation', () => {
  expect(writeGroups(document, { group: { send: 'sendForm' } })).toContain(
    'sdk.sendForm({ ...options, client, body: form, meta: table.sendForm })',
  );
  expect(() => writeGroups(document, {})).toThrow('sendForm');
  expect(() => writeGroups(document, { send: 'sendForm', receive: 'receiveForm' })).toThrow('receiveForm');
});

test('encodes dates and lists, and leaves out what is undefined', () => {
  const date = new Date('2026-11-10T12:00:00.000Z');
  const values = {
    text: "it's (a) test!",
    name: 'Ada',
    yes: false,
    day: date,
    instant: date,
    repeated: ['a', 'b'],
    commas: ['a,b', 'c'],
    spaces: [1, 2],
    pipes: [true, false],
    part: undefined,
  };
  const issues: unknown[] = [];
  const rest = [
    'yes=false',
    'day=2026-11-10',
    'instant=2026-11-10T12%3A00%3A00.000Z',
    'repeated=a&repeated=b',
    'commas=a%2Cb,c',
    'spaces=1%202',
    'pipes=true%7Cfalse',
  ];
  expect(encode(values, (...issue) => issues.push(issue))).toEqual({
    sent: ['text=it%27s%20(a)%20test!', 'name=Ada', ...rest],
    shown: ['text=***', 'name=***', ...rest],
  });
  expect(encode(values, () => {}, true).shown).toEqual(['text=***', 'name=Ada', ...rest]);
  expect(issues).toEqual([]);
});

test('what is encoded is read back as it was', () => {
  const text = fc.string({ unit: 'binary' });
  const values = fc.record(
    {
      text,
      whole: fc.maxSafeInteger(),
      part: fc.double({ noNaN: true, noDefaultInfinity: true }),
      yes: fc.boolean(),
      repeated: fc.array(text, { minLength: 1 }),
      commas: fc.array(text, { minLength: 1 }),
      spaces: fc.array(fc.maxSafeInteger(), { minLength: 1 }),
    },
    { requiredKeys: ['text', 'part'] },
  );
  fc.assert(
    fc.property(values, (given) => {
      // Zero has no sign in a form.
      const expected = { ...given, part: given.part + 0 };
      const { values: read, issues } = readForm(operation, encode(given, () => {}).sent.join('&'));
      expect(issues).toEqual([]);
      expect({ ...read }).toEqual(expected);
    }),
  );
});

test.each([
  ['an invalid date', { text: 'a', day: new Date(Number.NaN) }, 'day', 'must be a date, got an object'],
  ['a date for text', { text: 'a', name: new Date(0) }, 'name', 'must be text'],
  ['text for a list', { text: 'a', repeated: 'b' }, 'repeated', 'must be text, got "b"'],
  ['one wrong item', { text: 'a', spaces: [1, Number.NaN] }, 'spaces', 'must be a whole number, got an array'],
  ['a word for a number', { text: 'a', whole: 'two', part: 1 }, 'whole', 'must be a whole number, got "two"'],
  ['a wrong secret, without showing it', { text: 5 }, 'text', 'must be text'],
  ['a field that is required with another', { text: 'a', whole: 1 }, 'part', 'is required with whole'],
  ['an unknown field', { text: 'a', txet: 1 }, 'txet', `is not a field of this form. Its fields are ${Object.keys(form).join(', ')}`],
])('refuses %s by name', (_, values, field, message) => {
  const issues: unknown[] = [];
  encode(values, (name, __, why) => issues.push([name, why]));
  expect(issues).toEqual([[field, message]]);
});
