import bundle from '@reseller/openapi/openapi.json' with { type: 'json' };
import { describe, expect, test } from 'vitest';

import type { Verdict } from '../judge/finding.ts';
import { createRecorder } from '../run/recorded.ts';
import { parseDocument } from './document.ts';
import type { OpenApiDocument } from './document.ts';
import type { JsonObject } from './json.ts';
import { valueAt } from './pointer.ts';

const FORM = 'application/x-www-form-urlencoded';

/** A document with one operation, with these schemas of its form, path, response and header. */
function documentWith(parts: {
  readonly form?: JsonObject;
  readonly path?: JsonObject;
  readonly response?: JsonObject;
  header?: JsonObject;
}) {
  const { form = {}, path = { type: 'string' }, response = {}, header = {} } = parts;
  const document: OpenApiDocument = {
    openapi: '3.1.0',
    info: { title: 'A', version: '1' },
    paths: {
      '/things/{thing}': {
        put: {
          operationId: 'changeThing',
          parameters: [{ name: 'thing', in: 'path', required: true, schema: path }],
          requestBody: { content: { [FORM]: { schema: { type: 'object', ...form } } } },
          responses: {
            200: {
              description: 'Changed.',
              headers: { 'X-Total': { description: 'All.', schema: header } },
              content: { 'application/json': { schema: response } },
            },
          },
        },
      },
    },
  };
  return document;
}

interface ExchangeParts {
  readonly path?: string;
  readonly body?: string;
  readonly status?: number;
  readonly response?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The findings of some checks on one exchange. */
function verdicts(document: OpenApiDocument, { path = 't1', body, status = 200, response = null, headers = {} }: ExchangeParts) {
  const recorder = createRecorder(document);
  recorder.take({
    method: 'PUT',
    url: `https://api.example/things/${path}`,
    requestHeaders: body === undefined ? {} : { 'content-type': FORM },
    requestBody: body,
    at: '',
    status,
    responseHeaders: { 'content-type': 'application/json', ...headers },
    bytes: new TextEncoder().encode(JSON.stringify(response)),
    milliseconds: 1,
  });
  const ours = new Set(['request-described', 'header-present', 'value-allowed', 'property-format', 'property-required', 'property-type']);
  return recorder
    .report(new URL('https://api.example'))
    .findings.filter(({ check }) => ours.has(check))
    .map(({ verdict, proposals }) => ({ verdict, proposes: proposals.map(({ kind }) => kind) }));
}

/** Each keyword that constrains a value, with a value that breaks only this keyword. */
const CONSTRAINTS: readonly (readonly [string, JsonObject, unknown])[] = [
  ['minimum', { type: 'integer', minimum: 2 }, 1],
  ['maximum', { type: 'integer', maximum: 2 }, 3],
  ['exclusiveMinimum', { type: 'integer', exclusiveMinimum: 2 }, 2],
  ['exclusiveMaximum', { type: 'integer', exclusiveMaximum: 2 }, 2],
  ['multipleOf', { type: 'integer', multipleOf: 100 }, 150],
  ['minLength', { type: 'string', minLength: 2 }, 'a'],
  ['maxLength', { type: 'string', maxLength: 2 }, 'abc'],
  ['pattern', { type: 'string', pattern: '^a' }, 'b'],
  ['format', { type: 'string', format: 'email' }, 'nobody'],
  ['minItems', { type: 'array', minItems: 2 }, [1]],
  ['uniqueItems', { type: 'array', uniqueItems: true }, [1, 1]],
  ['minProperties', { type: 'object', minProperties: 1 }, {}],
  ['maxProperties', { type: 'object', maxProperties: 1 }, { a: 1, b: 2 }],
  ['const', { const: 'a' }, 'b'],
  ['enum', { type: 'string', enum: ['a'] }, 'b'],
  ['dependentRequired', { type: 'object', dependentRequired: { a: ['b'] } }, { a: 1 }],
];

describe.each(CONSTRAINTS)('a value that breaks %s', (keyword, schema, value) => {
  const verdictWith = (mark: JsonObject): readonly (Verdict | undefined)[] =>
    verdicts(documentWith({ response: { ...schema, ...mark } }), { response: value }).map(({ verdict }) => verdict);

  test('is a violation when the constraint is shown or has no provenance', () => {
    expect(verdictWith({})).toEqual(['violation']);
    expect(verdictWith({ 'x-constraints': 'shown' })).toEqual(['violation']);
    expect(verdictWith({ 'x-constraints': { '*': 'not-shown', [keyword]: 'shown' } })).toEqual(['violation']);
  });

  test('is learned when the constraint is inferred or not shown', () => {
    expect(verdictWith({ 'x-constraints': 'inferred' })).toEqual(['learned']);
    expect(verdictWith({ 'x-constraints': 'not-shown' })).toEqual(['learned']);
    expect(verdictWith({ 'x-constraints': { '*': 'shown', [keyword]: 'not-shown' } })).toEqual(['learned']);
  });

  test('is learned when the value itself is not shown, whatever the provenance of the constraint', () => {
    expect(verdictWith({ 'x-provenance': 'not-shown', 'x-constraints': 'shown' })).toEqual(['learned']);
  });
});

describe('constraints that are not shown', () => {
  test('include those of all schemas below, also through references, until one overrides it', () => {
    const name = { type: 'string', maxLength: 2 };
    const document: OpenApiDocument = {
      ...documentWith({
        response: {
          type: 'object',
          'x-constraints': 'not-shown',
          properties: { name: { $ref: '#/components/schemas/Name' }, code: { ...name, 'x-constraints': 'shown' } },
        },
      }),
      components: { schemas: { Name: name } },
    };
    expect(verdicts(document, { response: { name: 'abc' } })).toMatchObject([{ verdict: 'learned', proposes: ['remove-entry'] }]);
    expect(verdicts(document, { response: { code: 'abc' } })).toMatchObject([{ verdict: 'violation', proposes: [] }]);
  });

  test('can be listed by keyword for one schema, and with `*` also for schemas below', () => {
    const document = documentWith({
      response: {
        type: 'object',
        'x-constraints': { '*': 'not-shown', dependentRequired: 'shown' },
        dependentRequired: { a: ['b'] },
        properties: { nested: { type: 'object', dependentRequired: { a: ['b'] } } },
      },
    });
    expect(verdicts(document, { response: { a: 1 } })).toMatchObject([{ verdict: 'violation' }]);
    expect(verdicts(document, { response: { nested: { a: 1 } } })).toMatchObject([{ verdict: 'learned' }]);
  });

  test('do not include types and required properties, unless the map lists `required`', () => {
    const response = (constraints: unknown) =>
      documentWith({
        response: { type: 'object', 'x-constraints': constraints, required: ['size'], properties: { size: { type: 'integer' } } },
      });
    expect(verdicts(response('not-shown'), { response: {} })).toMatchObject([{ verdict: 'violation' }]);
    expect(verdicts(response('not-shown'), { response: { size: '1' } })).toMatchObject([{ verdict: 'violation' }]);
    expect(verdicts(response({ required: 'not-shown' }), { response: {} })).toMatchObject([
      { verdict: 'learned', proposes: ['remove-item'] },
    ]);
  });

  test('include the presence of a shown field in a form that is not shown', () => {
    const form = {
      'x-provenance': 'not-shown',
      'x-constraints': 'not-shown',
      required: ['type'],
      properties: { type: { type: 'string', 'x-provenance': 'shown' } },
    };
    expect(verdicts(documentWith({ form }), { body: 'sub=www' })).toMatchObject([{ verdict: 'learned', proposes: ['remove-item'] }]);
  });

  test('of a header are learned', () => {
    const header = { type: 'integer', minimum: 1, 'x-constraints': 'not-shown' };
    expect(verdicts(documentWith({ header }), { headers: { 'x-total': '0' } })).toMatchObject([{ verdict: 'learned' }]);
    expect(verdicts(documentWith({ header }), { headers: { 'x-total': 'many' } })).toMatchObject([{ verdict: 'violation' }]);
  });
});

describe('the request of a client that breaks a rule', () => {
  const form = {
    'x-constraints': 'not-shown',
    additionalProperties: false,
    required: ['size'],
    properties: { size: { type: 'integer', maximum: 9 }, offset: { type: 'integer', 'x-constraints': 'shown', minimum: 1 } },
  };
  const path = { type: 'string', 'x-constraints': 'not-shown', maxLength: 2 };
  const judge = (parts: ExchangeParts) => verdicts(documentWith({ form, path }), parts);

  test('that is shown is a mistake of the client, whatever the response', () => {
    for (const status of [200, 404, 422]) {
      expect(judge({ body: 'size=1&offset=0', status })).toMatchObject([{ verdict: 'violation' }]);
      expect(judge({ body: 'offset=1', status })).toMatchObject([{ verdict: 'violation' }]);
    }
  });

  test('that is not shown is learned when the service accepts it', () => {
    expect(judge({ body: 'size=10' })).toEqual([{ verdict: 'learned', proposes: ['remove-entry'] }]);
    expect(judge({ body: 'size=1&more=2' })).toEqual([{ verdict: 'learned', proposes: ['add-entry'] }]);
    expect(judge({ path: 'long', body: 'size=1' })).toEqual([{ verdict: 'learned', proposes: ['remove-entry'] }]);
  });

  test('that is not shown is a mistake of the client when the service refuses the form', () => {
    expect(judge({ body: 'size=10', status: 422 })).toMatchObject([{ verdict: 'violation' }]);
    expect(judge({ path: 'long', body: 'size=1', status: 422 })).toMatchObject([{ verdict: 'violation' }]);
  });

  test('that is not shown is unverified when the response does not show whether the rule applies', () => {
    expect(judge({ body: 'size=10', status: 401 })).toMatchObject([{ verdict: 'unverified' }]);
    expect(judge({ path: 'long', body: 'size=1', status: 404 })).toMatchObject([{ verdict: 'unverified' }]);
  });
});

describe('the reseller document', () => {
  const document = parseDocument(bundle);
  const example = (name: string): string => JSON.stringify(valueAt(document, `/components/examples/${name}/value`));
  const VM = 'cores=2&mem=4096&disk=40&os=debian_12&hostsystem=nl_ryzen';
  const created = example('CreateVmCreated');
  const handle = example('GetHandleComplete');

  test.each<[string, { method: string; path: string; body?: string; response: string }, readonly Verdict[]]>([
    [
      'an e-mail that is not an address',
      { method: 'GET', path: '/domain/handle/HDL-1/info', response: handle.replace(/"email":"[^"]*"/, '"email":"none"') },
      ['learned'],
    ],
    [
      'a country code of three letters',
      { method: 'GET', path: '/domain/handle/HDL-1/info', response: handle.replace(/"countrycode":"[^"]*"/, '"countrycode":"DEU"') },
      ['violation'],
    ],
    [
      'an identifier that does not have five digits',
      { method: 'PUT', path: '/vm/create', body: VM, response: created.replace(/"identifier":[0-9]+/, '"identifier":123456') },
      ['violation'],
    ],
    [
      'a hostname that is too long',
      { method: 'PUT', path: '/vm/create', body: `${VM}&hostname=${'a'.repeat(300)}`, response: created },
      ['learned'],
    ],
    ['a field that is not described', { method: 'PUT', path: '/vm/create', body: `${VM}&color=red`, response: created }, ['learned']],
    [
      'a display name without a key',
      { method: 'PUT', path: '/vm/create', body: `${VM}&ssh_key_displayname=laptop`, response: created },
      [],
    ],
    [
      'a form without a required field',
      { method: 'PUT', path: '/vm/create', body: VM.replace('cores=2&', ''), response: created },
      ['violation'],
    ],
    [
      'an offset of 0',
      { method: 'POST', path: '/account/requests', body: 'offset=0', response: example('ListRequestsFirstPage') },
      ['violation'],
    ],
    [
      'ns4 without ns3',
      {
        method: 'POST',
        path: '/domain/a.example/nameserver',
        body: 'ns1=ns1.a.example&ns2=ns2.a.example&ns4=ns4.a.example',
        response: example('SetDomainNameserversFive'),
      },
      ['violation'],
    ],
    [
      'a DNS record without a type',
      { method: 'POST', path: '/domain/a.example/dns/edit', body: 'data=198.51.100.1', response: example('EditDomainDnsEdited') },
      ['learned'],
    ],
  ])('has the verdict of the specification for %s', (_, { method, path, body, response }, expected) => {
    const recorder = createRecorder(document);
    recorder.take({
      method,
      url: `https://api.example${path}`,
      requestHeaders: { 'x-service-apikey': 'example', ...(body === undefined ? {} : { 'content-type': FORM }) },
      requestBody: body,
      at: '',
      status: 200,
      responseHeaders: { 'content-type': 'application/json' },
      bytes: new TextEncoder().encode(response),
      milliseconds: 1,
    });
    const { findings } = recorder.report(new URL('https://api.example'));
    const given = findings.map(({ verdict }) => verdict).filter((verdict) => verdict !== 'unverified');
    expect([...new Set(given)]).toEqual(expected);
  });
});
