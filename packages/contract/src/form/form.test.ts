import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import type { Operation } from '../document/operation.ts';
import { readOperations } from '../document/operations.ts';
import { readForm, writeForm } from './form.ts';

const operation = operationWith({
  type: 'object',
  properties: {
    text: { type: 'string' },
    whole: { type: 'integer' },
    real: { type: 'number' },
    flag: { type: 'boolean' },
    either: { type: ['integer', 'string'] },
    many: { type: 'array', items: { type: 'integer' } },
    joined: { type: 'array', items: { type: 'string' } },
    nested: { type: 'object' },
  },
});

function operationWith(schema: unknown): Operation {
  const content = { 'application/x-www-form-urlencoded': { schema, encoding: { joined: { style: 'form', explode: false } } } };
  const [found] = readOperations({
    openapi: '3.1.0',
    info: { title: 'A', version: '1' },
    paths: { '/a': { post: { requestBody: { content }, responses: {} } } },
  });
  if (found === undefined) throw new Error('The document has no operation.');
  return found;
}

function valuesOf(body: string | Uint8Array): Readonly<Record<string, unknown>> {
  return { ...readForm(operation, body).values };
}

function rulesOf(body: string | Uint8Array): readonly string[] {
  return readForm(operation, body).issues.map(({ path, keyword }) => `${path} ${keyword}`.trim());
}

const wellFormed = fc.string({ unit: 'binary' });
const finite = fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0);

describe('writing and reading a form', () => {
  test('returns the same values', () => {
    const values = fc.record(
      {
        text: wellFormed,
        whole: fc.maxSafeInteger(),
        real: finite,
        flag: fc.boolean(),
        either: wellFormed,
        many: fc.array(fc.maxSafeInteger(), { minLength: 1 }),
        // A joined list with one empty item looks like an empty list.
        joined: fc.array(wellFormed, { minLength: 1 }),
        nested: fc.dictionary(
          fc.string({ minLength: 1 }).filter((name) => name !== '__proto__'),
          fc.oneof(fc.string(), fc.integer(), fc.boolean()),
        ),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(values, (given) => {
        const reading = readForm(operation, writeForm(operation, given));
        expect(reading.issues).toEqual([]);
        expect({ ...reading.values }).toEqual(given);
      }),
    );
  });

  test('agrees with URLSearchParams on any text', () => {
    fc.assert(
      fc.property(wellFormed, wellFormed, (name, value) => {
        const body = new URLSearchParams([[`x${name}`, value]]).toString();
        expect(readForm(operation, body).values[`x${name}`]).toBe(value);
        expect(new URLSearchParams(writeForm(operation, { [`x${name}`]: value })).get(`x${name}`)).toBe(value);
      }),
    );
  });

  test.each([[null], [Number.NaN], ['\uD800'], [{ a: 1 }], [[{}]]])('refuses to write %j into a text field', (value) => {
    expect(() => writeForm(operation, { text: value })).toThrow(TypeError);
  });

  test('omits undefined fields', () => {
    expect(writeForm(operation, { text: undefined, whole: 1 })).toBe('whole=1');
  });
});

describe('coercion', () => {
  test('never turns a text into a value that would not be written back the same way', () => {
    fc.assert(
      fc.property(
        fc.oneof(wellFormed, fc.stringMatching(/^[-+]?[0-9.eE]{0,20}$/), fc.constantFrom('true', 'TRUE', '1', 'yes', '')),
        (text) => {
          const { whole, flag } = valuesOf(`whole=${encodeURIComponent(text)}&flag=${encodeURIComponent(text)}`);
          // -0 is the only number that is not written back the same way.
          expect(String(whole)).toBe(text === '-0' ? '0' : text);
          expect(String(flag)).toBe(text);
        },
      ),
    );
  });

  test.each([
    ['whole=12', { whole: 12 }],
    ['whole=-3', { whole: -3 }],
    ['whole=007', { whole: '007' }],
    ['whole=%2B1', { whole: '+1' }],
    ['whole=1.0', { whole: '1.0' }],
    ['whole=1e3', { whole: '1e3' }],
    ['whole=0x10', { whole: '0x10' }],
    ['whole=', { whole: '' }],
    ['whole=9007199254740993', { whole: '9007199254740993' }],
    ['real=1.50', { real: 1.5 }],
    ['real=1e999', { real: '1e999' }],
    ['real=NaN', { real: 'NaN' }],
    ['flag=true', { flag: true }],
    ['flag=1', { flag: '1' }],
    ['either=12', { either: '12' }],
    ['many=1&many=2&many=x', { many: [1, 2, 'x'] }],
    ['joined=a,b%2Cc', { joined: ['a', 'b,c'] }],
    ['nested={"a":1}', { nested: { a: 1 } }],
    ['nested=[1]', { nested: '[1]' }],
    ['text', { text: '' }],
    ['&&text=a=b+c&', { text: 'a=b c' }],
    ['', {}],
  ])('reads %s', (body, values) => {
    expect(valuesOf(body)).toEqual(values);
    expect(rulesOf(body)).toEqual([]);
  });
});

describe('an invalid form', () => {
  test.each([
    ['text=%', '/text malformed'],
    ['text=%zz', '/text malformed'],
    ['text=%ff', '/text malformed'],
    ['text=%C0%AF', '/text malformed'],
    ['text=%ED%A0%80', '/text malformed'],
    ['%ff=1', 'malformed'],
    ['text=\uD800', 'malformed'],
    [new Uint8Array([0x61, 0x3d, 0xff]), 'malformed'],
  ])('%s is malformed', (body, rule) => {
    expect(rulesOf(body)).toEqual([rule]);
  });

  test('reports a repeated field, and keeps its first value', () => {
    expect(rulesOf('whole=1&whole=2&whole=3&text=a')).toEqual(['/whole repeated']);
    expect(valuesOf('whole=1&whole=2&text=a')).toEqual({ whole: 1, text: 'a' });
    expect(rulesOf('unknown=1&unknown=1')).toEqual(['/unknown repeated']);
  });

  test('reports a repeated field even if its first value was malformed', () => {
    expect(rulesOf('text=%ff&text=a')).toEqual(['/text malformed', '/text repeated']);
  });

  test('treats names of the prototype as ordinary names', () => {
    const { values, issues } = readForm(operation, '__proto__=a&constructor=b&toString=c');
    expect(issues).toEqual([]);
    expect(Object.entries(values)).toEqual([
      ['__proto__', 'a'],
      ['constructor', 'b'],
      ['toString', 'c'],
    ]);
    expect(Object.getPrototypeOf(values)).toBeNull();
  });
});
