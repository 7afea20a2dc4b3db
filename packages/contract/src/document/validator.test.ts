import bundle from '@reseller/openapi/openapi.json' with { type: 'json' };
import operator from '@reseller/openapi/operator.json' with { type: 'json' };
import service from '@reseller/openapi/service.json' with { type: 'json' };
import { describe, expect, test } from 'vitest';

import { DocumentError } from './document.ts';
import type { OpenApiDocument } from './document.ts';
import type { Issue } from './issues.ts';
import { readOperations } from './operations.ts';
import { createValidator } from './validator.ts';

function issuesOf(schema: unknown, value: unknown, others: Readonly<Record<string, unknown>> = {}): readonly Issue[] {
  const document: OpenApiDocument = {
    openapi: '3.1.0',
    info: { title: 'A', version: '1' },
    components: { schemas: { 'The/schema {1}': schema, ...others } },
  };
  return createValidator(document).compile('/components/schemas/The~1schema {1}')(value);
}

function brief(issues: readonly Issue[]): readonly string[] {
  return issues.map(({ path, message }) => `${path} ${message}`.trim());
}

test('accepts every example of the reseller document', () => {
  const { compile } = createValidator(bundle);
  const operations = readOperations(bundle);
  let count = 0;
  for (const { id, form, responses } of operations) {
    const media = [
      ...(form === undefined ? [] : [form]),
      ...Object.values(responses).flatMap((response) => Object.values(response.content)),
    ];
    for (const { pointer = '', examples } of media) {
      for (const [name, { value }] of Object.entries(examples)) {
        expect(compile(pointer)(value), `${id} ${name}`).toEqual([]);
        count++;
      }
    }
  }
  expect(count).toBeGreaterThan(200);
});

test.each([service, operator])('every schema of $info.title is valid, so the service trusts the document', (document) => {
  const { compile } = createValidator(document);
  for (const name of Object.keys(document.components.schemas)) expect(() => compile(`/components/schemas/${name}`)).not.toThrow();
});

test('a trusted document gets the same issues, and its schemas are not checked', () => {
  const schema = { type: 'object', properties: { cores: { type: 'integer', minimum: 1 } }, title: 7 };
  const document = { openapi: '3.1.0', info: { title: 'A', version: '1' }, components: { schemas: { Form: schema } } };
  expect(() => createValidator(document).compile('/components/schemas/Form')).toThrow(DocumentError);
  expect(brief(createValidator(document, { trusted: true }).compile('/components/schemas/Form')({ cores: 0 }))).toEqual([
    '/cores must be an integer of at least 1',
  ]);
});

describe('issues', () => {
  test('are one shared empty list for valid values', () => {
    const { compile } = createValidator({
      openapi: '3.1.0',
      info: { title: 'A', version: '1' },
      components: { schemas: { A: { type: 'string' } } },
    });
    const check = compile('/components/schemas/A');
    expect(check('a')).toBe(check('b'));
    expect(compile('/components/schemas/A')).toBe(check);
  });

  test('have the path of the missing or unknown property, not of its object', () => {
    const schema = { type: 'object', required: ['a/b'], properties: { 'a/b': { type: 'string' } }, additionalProperties: false };
    expect(brief(issuesOf(schema, { c: 1 }))).toEqual(['/a~1b is required', '/c is not known here; known are a/b']);
  });

  test('have the path of the property that another one requires', () => {
    expect(brief(issuesOf({ type: 'object', dependentRequired: { ns4: ['ns3'] } }, { ns4: 'x' }))).toEqual([
      '/ns3 is required when ns4 is given',
    ]);
  });

  test('have the pointer of their rule, also through references', () => {
    const schema = { type: 'object', properties: { a: { $ref: '#/components/schemas/Outer' } } };
    const others = { Outer: { allOf: [{ $ref: '#/components/schemas/Inner' }] }, Inner: { type: 'string', minLength: 2, pattern: '^x' } };
    expect(issuesOf(schema, { a: 'y' }, others).map((issue) => issue.schemaPath)).toEqual([
      '/components/schemas/Inner/minLength',
      '/components/schemas/Inner/pattern',
    ]);
  });

  test('of a value with a wrong type are only about the type', () => {
    expect(brief(issuesOf({ type: 'string', enum: ['a', 'b'] }, 1))).toEqual(['must be a string']);
  });

  test('summarise alternatives', () => {
    expect(brief(issuesOf({ anyOf: [{ type: 'string', enum: ['a'] }, { type: 'string' }] }, 5))).toEqual(['must be a string']);
    expect(brief(issuesOf({ anyOf: [{ type: 'string', enum: ['a', 'b'] }, { type: 'null' }] }, 'c'))).toEqual([
      'must be one of a, b, or must be null',
    ]);
    expect(brief(issuesOf({ oneOf: [{ required: ['a'] }, { required: ['b'] }] }, {}))).toEqual([
      'must match one of the described alternatives, but matches none',
    ]);
    expect(brief(issuesOf({ oneOf: [{ type: 'integer' }, { type: 'number' }] }, 1))).toEqual([
      'must match exactly one of the alternatives, but matches several',
    ]);
  });

  test('are those of the only alternative that has the type of the value', () => {
    const limit = { type: 'object', properties: { requests: { type: 'integer', minimum: 1 } } };
    expect(issuesOf({ anyOf: [limit, { type: 'null' }] }, { requests: 0 })).toMatchObject([{ path: '/requests', keyword: 'minimum' }]);
  });

  test('include those outside the alternatives', () => {
    const schema = { type: 'object', required: ['x'], properties: { a: { anyOf: [{ type: 'string' }, { type: 'null' }] } } };
    expect(brief(issuesOf(schema, { a: 1 })).toSorted()).toEqual(['/a must be a string or null', '/x is required']);
  });

  test.each([
    [{ type: 'integer', minimum: 1 }, 0, 'must be an integer of at least 1'],
    [{ type: 'integer' }, 1.5, 'must be an integer'],
    [{ type: ['string', 'null'] }, 1, 'must be a string or null'],
    [{ type: 'string', minLength: 1 }, '', 'must not be empty'],
    [{ const: 'success' }, 'error', 'must be "success"'],
    [{ type: 'string', format: 'uuid' }, 'urn:uuid:0192f7a4-6b1c-7d20-8f4e-51c7e2a90b13', 'must be a UUID'],
    [{ type: 'string', pattern: '^[A-Z]{2}$', 'x-expected': 'two letters, such as DE' }, 'x', 'must be two letters, such as DE'],
    [{ type: 'string', pattern: '^[A-Z]{2}$' }, 'x', 'must match the pattern in the document'],
    [{ type: 'integer', format: 'int32' }, 2_147_483_648, 'must be an integer of at most 2147483647'],
    [{ type: 'array', maxItems: 1 }, [1, 2], 'must have at most 1 item'],
    [false, 1, 'must not be given'],
  ])('of %j for %j have the message: %s', (schema, value, message) => {
    expect(brief(issuesOf(schema, value))).toEqual([message]);
  });

  test('never contain the value', () => {
    const text = JSON.stringify(issuesOf({ type: 'string', format: 'date', pattern: '^x', enum: ['a'] }, 'hunter2-secret'));
    expect(text).not.toContain('hunter2');
  });
});

describe('validation', () => {
  test('does not change or coerce values', () => {
    const value = Object.freeze({ a: '1', extra: true });
    const schema = { type: 'object', properties: { a: { type: 'integer' }, b: { type: 'string', default: 'x' } } };
    expect(brief(issuesOf(schema, value))).toEqual(['/a must be an integer']);
    expect(value).toEqual({ a: '1', extra: true });
  });

  test('treats names such as __proto__ and constructor as ordinary names', () => {
    const schema = { type: 'object', required: ['constructor'], additionalProperties: false };
    const value: unknown = JSON.parse('{"__proto__": 1}');
    expect(
      issuesOf(schema, value)
        .map((issue) => issue.path)
        .toSorted(),
    ).toEqual(['/__proto__', '/constructor']);
  });

  test('accepts extension keys, unknown formats and recursive schemas', () => {
    const schema = {
      type: 'object',
      'x-any.key': 1,
      'x-fine': 2,
      properties: { next: { $ref: '#/components/schemas/The~1schema%20%7B1%7D' }, f: { type: 'string', format: 'vm-id' } },
    };
    expect(brief(issuesOf(schema, { next: { next: { f: 1 } } }))).toEqual(['/next/next/f must be a string']);
  });

  test('throws for a value that is not a schema', () => {
    expect(() => issuesOf({ type: 'sting' }, 1)).toThrow(DocumentError);
    expect(() => issuesOf('string', 1)).toThrow('no schema at');
    expect(() => issuesOf({ $ref: '#/components/schemas/Missing' }, 1)).toThrow(DocumentError);
    expect(() => issuesOf({ tpye: 'string' }, 1)).toThrow('unknown keyword: "tpye"');
  });
});

describe('a text that is too long', () => {
  // It would take hours with a text of this length.
  const slow = { pattern: '^(a+)+$' };
  const text = `${'a'.repeat(64_000)}\n`;

  test('is not matched with a pattern', () => {
    expect(brief(issuesOf({ type: 'string', maxLength: 255, ...slow }, text))).toEqual(['must be at most 255 characters long']);
  });
  test('is not judged by a format', () => {
    expect(brief(issuesOf({ type: 'string', maxLength: 255, format: 'url' }, 'http://a-'.repeat(7_000)))).toEqual([
      'must be at most 255 characters long',
    ]);
  });
  test('is measured in characters, not in UTF-16 units', () => {
    const schema = { type: 'string', maxLength: 2, pattern: '^a*$', format: 'uuid' };
    expect(brief(issuesOf(schema, '😀😀'))).toEqual(['must match the pattern in the document', 'must be a UUID']);
    expect(brief(issuesOf(schema, '😀😀😀'))).toEqual(['must be at most 2 characters long']);
  });
});

test.each([
  ['int32', 2 ** 31],
  ['uuid', 'urn:uuid:00000000-0000-0000-0000-000000000000'],
  ['date', '2026-02-30'],
  ['email', 'a'],
])('refuses a value of another format than %s', (format, value) => expect(brief(issuesOf({ format }, value))).toHaveLength(1));

test.each([
  ['int32', '7'],
  ['uuid', 7],
  ['date', 7],
  ['mine', 'a'],
  ['constructor', 'a'],
  ['password', 'a'],
])('does not apply the format %s to another type, and knows no other format', (format, value) =>
  expect(issuesOf({ format }, value)).toEqual([]),
);

test('returns at most as many issues as it is asked for', () => {
  const document: OpenApiDocument = {
    openapi: '3.1.0',
    info: { title: 'A', version: '1' },
    components: { schemas: { List: { items: { type: 'integer' } } } },
  };
  const list = Array.from({ length: 5_000 }, () => 'a');
  expect(createValidator(document).compile('/components/schemas/List')(list)).toHaveLength(5_000);
  const few = createValidator(document, { maxIssues: 3 }).compile('/components/schemas/List')(list);
  expect(few.map(({ path }) => path)).toEqual(['/0', '/1', '/2']);
});
