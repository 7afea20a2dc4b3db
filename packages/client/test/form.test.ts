import { parseDocument, readForm, readOperations } from '@reseller/contract';
import fc from 'fast-check';
import { expect, test } from 'vitest';

import { factsOf } from '../generate/facts.ts';
import { encodeForm } from '../src/runtime/form.ts';
import type { EncodedField, Refuse, Values } from '../src/runtime/form.ts';
import type { Operation } from '../src/runtime/operation.ts';

/** A form with every kind of field, because the document's own forms do not have them all. */
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
                },
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
const facts = factsOf(document, operation);

const encode = (values: Values, refuse: Refuse) => encodeForm(facts, values, refuse);

const textOf = (fields: readonly EncodedField[]) => fields.map(({ name, text }) => `${name}=${text}`).join('&');

/** The facts of the only operation of a document with this form. */
function factsOfForm(schema: object): Operation[] {
  const content = { 'application/x-www-form-urlencoded': { schema } };
  const post = { operationId: 'b', 'x-retry': 'safe', requestBody: { content }, responses: { 200: { description: 'Done.' } } };
  const other = parseDocument({ openapi: '3.1.0', info: { title: '', version: '1' }, paths: { '/b': { post } } });
  return readOperations(other).map((each) => factsOf(other, each));
}

test('derives the facts of a form from its schema and encoding', () => {
  expect(facts).toMatchObject({
    form: { text: 'string', name: 'string', whole: 'integer', part: 'number', yes: 'boolean' },
    required: ['text'],
    needs: { whole: ['part'] },
    hidden: ['text', 'name'],
  });
});

test('leaves rules that the specification does not show to the server', () => {
  const schema = {
    type: 'object',
    required: ['a'],
    dependentRequired: { a: ['b'] },
    properties: { a: { type: 'string' }, b: { type: 'string' } },
  };
  const rulesOf = (more: object) => factsOfForm({ ...schema, ...more }).map(({ required, needs }) => ({ required, needs }));
  const needs = { a: ['b'] };
  expect(rulesOf({})).toEqual([{ required: ['a'], needs }]);
  for (const constraints of ['not-shown', { dependentRequired: 'not-shown' }])
    expect(rulesOf({ 'x-constraints': constraints })).toEqual([{ required: ['a'], needs: undefined }]);
  expect(rulesOf({ 'x-constraints': { '*': 'not-shown', dependentRequired: 'shown' } })).toEqual([{ required: ['a'], needs }]);
});

test('accepts further fields and requires none in a form that the specification does not show', () => {
  const schema = { type: 'object', 'x-provenance': 'not-shown', required: ['a'], properties: { a: { type: 'string' } } };
  const [open] = factsOfForm(schema);
  expect(open).toMatchObject({ form: { a: 'string' }, openForm: true });
  const issues: unknown[] = [];
  expect(open && encodeForm(open, { ttl: 60 }, (...issue) => issues.push(issue))).toEqual([{ name: 'ttl', text: '60', shown: 60 }]);
  expect(issues).toEqual([]);
});

test('takes pairs as a text or an object, and refuses what would become other pairs', () => {
  const [labelled] = factsOfForm({ type: 'object', properties: { labels: { type: 'string', 'x-pairs': true } } });
  if (!labelled) throw new Error('The document has no operation.');
  const encoded = (labels: unknown) => {
    const messages: string[] = [];
    const fields = encodeForm(labelled, { labels }, (...[, , message]) => messages.push(message));
    return messages[0] ?? decodeURIComponent(textOf(fields));
  };
  expect(encoded('env=test,team=web')).toBe('labels=env=test,team=web');
  expect(encoded({ env: 'test', team: '' })).toBe('labels=env=test,team=');
  expect(encoded({})).toBe('labels=');
  for (const other of [{ env: 'test,team=web' }, { 'env=a': 'b' }, { cores: 2 }, ['env=test'], 5])
    expect(encoded(other)).toMatch('must be a text such as env=test, or an object of texts without = and commas');
});

test('the generator refuses a field that cannot be encoded', () => {
  expect(() => factsOfForm({ type: 'object', properties: { a: { type: 'array', items: { type: 'string' } } } })).toThrow(
    'The field a of b',
  );
});

test('masks secrets and personal data, and leaves out what is undefined', () => {
  const values = { text: "it's (a) test!", name: 'Ada', yes: false, part: undefined };
  const issues: unknown[] = [];
  const sent = [
    { name: 'text', text: 'it%27s%20(a)%20test!', shown: '***' },
    { name: 'name', text: 'Ada', shown: '***' },
    { name: 'yes', text: 'false', shown: false },
  ];
  expect(encode(values, (...issue) => issues.push(issue))).toEqual(sent);
  expect(issues).toEqual([]);
});

test('reads back every form that it has encoded', () => {
  const text = fc.string({ unit: 'binary' });
  const values = fc.record(
    {
      text,
      whole: fc.maxSafeInteger(),
      part: fc.double({ noNaN: true, noDefaultInfinity: true }),
      yes: fc.boolean(),
    },
    { requiredKeys: ['text', 'part'] },
  );
  fc.assert(
    fc.property(values, (given) => {
      // Zero has no sign in a form.
      const expected = { ...given, part: given.part + 0 };
      const { values: read, issues } = readForm(operation, textOf(encode(given, () => {})));
      expect(issues).toEqual([]);
      expect({ ...read }).toEqual(expected);
    }),
  );
});

test.each([
  ['a date for text', { text: 'a', name: new Date(0) }, 'name', 'must be text'],
  ['a word for a number', { text: 'a', whole: 'two', part: 1 }, 'whole', 'must be a whole number, got "two"'],
  ['a wrong secret, without showing it', { text: 5 }, 'text', 'must be text'],
  ['a field that is required with another', { text: 'a', whole: 1 }, 'part', 'is required with whole'],
  ['an unknown field', { text: 'a', txet: 1 }, 'txet', `is not a field of this form. Its fields are text, name, whole, part, yes`],
])('refuses %s by name', (_, values, field, message) => {
  const issues: unknown[] = [];
  encode(values, (name, __, why) => issues.push([name, why]));
  expect(issues).toEqual([[field, message]]);
});
