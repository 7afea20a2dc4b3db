import bundle from '@reseller/openapi/openapi.json' with { type: 'json' };
import { describe, expect, test } from 'vitest';

import { DocumentError, parseDocument } from './document.ts';
import type { Operation } from './operation.ts';
import { readOperations, responseFor } from './operations.ts';

const info = { title: 'A', version: '1' };

function operationOf(document: {
  readonly paths: Readonly<Record<string, unknown>>;
  readonly components?: Readonly<Record<string, unknown>>;
}): Operation {
  const [operation] = readOperations({ openapi: '3.1.0', info, ...document });
  if (operation === undefined) throw new Error('The document has no operation.');
  return operation;
}

describe('the reseller document', () => {
  const operations = new Map(readOperations(bundle).map((operation) => [operation.id, operation]));

  test('has 25 operations, all behind the API key', () => {
    expect(operations.size).toBe(25);
    for (const { security } of operations.values())
      expect(security).toMatchObject({
        keys: [{ scheme: 'ApiKey', kind: 'key', in: 'header', name: 'X-SERVICE-APIKEY' }],
        optional: false,
      });
  });

  test('has the cost and the effect of each operation', () => {
    expect(operations.get('createVm')).toMatchObject({
      method: 'PUT',
      path: '/vm/create',
      billable: true,
      readOnly: false,
      retry: 'never',
      tag: 'VM',
    });
    expect(operations.get('listDomains')).toMatchObject({ method: 'GET', billable: false, readOnly: true, retry: 'safe' });
    expect(operations.get('listRequests')).toMatchObject({ method: 'POST', readOnly: true });
  });

  test('has the type of each form field', () => {
    const fields = operations.get('createVm')?.form?.fields;
    expect(fields?.get('cores')).toMatchObject({ kind: 'integer', required: true });
    expect(fields?.get('os')).toMatchObject({ kind: 'string', required: true });
    expect(fields?.get('allowFallbackIPs')).toMatchObject({ kind: 'boolean', required: false });
    expect(operations.get('registerDomain')?.form?.fields.get('authcode')).toMatchObject({ secret: true });
  });

  test('resolves responses, their examples and their provenance', () => {
    const responses = operations.get('createVm')?.responses;
    expect(responses?.['200']?.provenance).toBe('shown');
    expect(responses?.['429']).toMatchObject({ provenance: 'not-shown', headers: { 'retry-after': { name: 'Retry-After' } } });
    expect(responses?.['401']?.content['application/json']?.examples['missing']?.value).toMatchObject({
      status: 'error',
      type: 'unauthorized',
    });
  });
});

describe('any document', () => {
  test('inherits parameters of the path item, which an operation may replace', () => {
    const { parameters } = operationOf({
      paths: {
        '/a/{id}': {
          parameters: [
            { name: 'id', in: 'path', required: true, schema: { type: 'string' } },
            { name: 'X-Trace', in: 'header', schema: { type: 'string' } },
          ],
          get: { parameters: [{ name: 'X-Trace', in: 'header', required: true, schema: { type: 'integer' } }] },
        },
      },
    });
    expect(parameters.map(({ name, required, schema }) => [name, required, schema])).toEqual([
      ['id', true, { type: 'string' }],
      ['X-Trace', true, { type: 'integer' }],
    ]);
  });

  test('finds a response by its code, then its class, then the default', () => {
    const operation = operationOf({
      paths: {
        '/a': { get: { responses: { 200: { description: 'ok' }, '4XX': { description: 'yours' }, default: { description: 'other' } } } },
      },
    });
    expect([200, 404, 500].map((status) => responseFor(operation, status)?.description)).toEqual(['ok', 'yours', 'other']);
  });

  test('uses method and path as the id of an operation without operationId', () => {
    expect(operationOf({ paths: { '/a': { get: {} } } }).id).toBe('GET /a');
  });

  test.each([
    [null, 'not a JSON object'],
    [{ swagger: '2.0' }, 'Swagger 2'],
    [{ openapi: '3.0.3', info, paths: {} }, '"openapi" is "3.0.3"'],
    [{ openapi: '3.1.0', info: {} }, 'needed'],
  ])('refuses %j', (value, reason) => {
    expect(() => parseDocument(value)).toThrow(DocumentError);
    expect(() => parseDocument(value)).toThrow(new RegExp(reason, 'i'));
  });

  test.each([
    ['other.yaml#/a', 'Bundle the document'],
    ['#/components/responses/Missing', 'no object at /components/responses/Missing'],
    ['#/components/responses/Circle', 'are circular'],
  ])('refuses the reference %s', (reference, reason) => {
    const read = (): Operation =>
      operationOf({
        paths: { '/a': { get: { responses: { 200: { $ref: reference } } } } },
        components: { responses: { Circle: { $ref: '#/components/responses/Circle' } } },
      });
    expect(read).toThrow(reason);
  });

  test('refuses two operations with the same id', () => {
    expect(() => operationOf({ paths: { '/a': { get: { operationId: 'x' }, put: { operationId: 'x' } } } })).toThrow('Two operations');
  });
});

describe('chooses among the security requirements', () => {
  const schemes = {
    Basic: { type: 'http', scheme: 'basic' },
    Token: { type: 'http', scheme: 'bearer' },
    Query: { type: 'apiKey', in: 'query', name: 'key' },
    Key: { type: 'apiKey', in: 'header', name: 'X-Key' },
    Mutual: { type: 'mutualTLS' },
  };
  const chosen = (...security: readonly object[]): string | undefined => {
    const document = {
      openapi: '3.1.0',
      info: { title: 'A', version: '1' },
      security,
      components: { securitySchemes: schemes },
      paths: { '/a': { get: { responses: {} } } },
    };
    const [operation] = readOperations(parseDocument(document));
    return operation?.unsupportedSecurity ?? operation?.security?.keys.map(({ scheme }) => scheme).join();
  };

  test.each<[readonly object[], string | undefined]>([
    [[{ Basic: [] }, { Key: [] }], 'Key'],
    [[{ Basic: [] }, { Token: [] }], 'Token'],
    [[{ Query: [] }, { Basic: [] }], 'Query'],
    [[{ Basic: [] }], 'Basic'],
    [[{ Mutual: [] }, { Basic: [] }], 'Basic'],
    [[{ Mutual: [] }, {}], undefined],
    [[], undefined],
    [[{ Mutual: [] }], 'it needs Mutual; only API keys, bearer tokens, and user and password can be sent'],
    [[{ Key: [], Token: [] }], 'Key,Token'],
    [[{ Key: [], Token: [] }, { Basic: [] }], 'Basic'],
    [[{ Key: [], Mutual: [] }], 'it needs Key and Mutual; only API keys, bearer tokens, and user and password can be sent'],
  ])('%j: %s', (security, expected) => {
    expect(chosen(...security)).toBe(expected);
  });
});
