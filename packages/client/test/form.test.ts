import { parseDocument, readForm, readOperations } from '@reseller/contract';
import fc from 'fast-check';
import { expect, test } from 'vitest';

import { writeOperations, writePlaces } from '../generate/operations.ts';
import type { Refuse, Values, Written } from '../src/runtime/form.ts';
import { writeRich } from '../src/runtime/rich-form.ts';

/** A form with all that a form can have and ours does not have yet. */
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

const facts = [
  'sendForm s',
  '.text*',
  '.whole?:integer>part',
  '.part?:number',
  '.yes?:boolean',
  '.day?:date',
  '.instant?:instant',
  '.repeated?:string_multi',
  '.commas?:string_csv',
  '.spaces?:integer_ssv',
  '.pipes?:boolean_pipes',
].join(' ');
const [operation] = readOperations(document);

const writeForm = (values: Values, refuse: Refuse): Written => writeRich(facts, values, refuse);

test('the facts of a form follow from its schema and encoding', () => {
  expect(writeOperations(document)).toContain(`meta: '${facts}', write: writeRich`);
});

test('an operation without a place, and a place without an operation, are named', () => {
  expect(writePlaces(document, { group: { send: 'sendForm' } })).toContain(`send: at('POST', '/a', '${facts}')`);
  expect(() => writePlaces(document, {})).toThrow('sendForm');
  expect(() => writePlaces(document, { send: 'sendForm', receive: 'receiveForm' })).toThrow('receiveForm');
});

test('dates, lists and what is undefined', () => {
  const date = new Date('2026-11-10T12:00:00.000Z');
  const values = {
    text: "it's (a) test!",
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
  const { part: _, ...given } = values;
  expect(writeForm(values, (...issue) => issues.push(issue))).toMatchObject({
    form: { ...given, text: '***' },
    sent: ['text=it%27s%20(a)%20test!', ...rest],
    shown: ['text=***', ...rest],
  });
  expect(issues).toEqual([]);
});

test('what is written is read as what it was', () => {
  if (!operation) throw new Error('The document has no operation.');
  const text = fc.string({ unit: 'binary' });
  const values = fc.record(
    {
      text,
      part: fc.double({ noNaN: true, noDefaultInfinity: true }),
      yes: fc.boolean(),
      repeated: fc.array(text, { minLength: 1 }),
      commas: fc.array(text, { minLength: 1 }),
      spaces: fc.array(fc.maxSafeInteger(), { minLength: 1 }),
    },
    { requiredKeys: ['text'] },
  );
  fc.assert(
    fc.property(values, (given) => {
      // Zero has no sign in a form.
      const expected = { ...given, ...('part' in given ? { part: Number(given.part) + 0 } : {}) };
      const { values: read, issues } = readForm(operation, writeForm(given, () => {}).sent.join('&'));
      expect(issues).toEqual([]);
      expect({ ...read }).toEqual(expected);
    }),
  );
});

test.each([
  ['an invalid date', { text: 'a', day: new Date(Number.NaN) }, 'day'],
  ['a date for text', { text: new Date(0) }, 'text'],
  ['no list for a list', { text: 'a', repeated: 'b' }, 'repeated'],
  ['one wrong item', { text: 'a', spaces: [1, Number.NaN] }, 'spaces'],
  ['an object', { text: {} }, 'text'],
])('%s is refused by name', (_, values, field) => {
  const fields: string[] = [];
  writeForm(values, (name) => fields.push(name));
  expect(fields).toEqual([field]);
});
