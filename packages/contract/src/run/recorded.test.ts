import bundle from '@reseller/openapi/openapi.json' with { type: 'json' };
import { describe, expect, test } from 'vitest';

import { parseDocument } from '../document/document.ts';
import type { OpenApiDocument } from '../document/document.ts';
import type { Finding } from '../judge/finding.ts';
import { createRecorder } from './recorded.ts';
import type { RawExchange } from './recorded.ts';

const FORM = 'application/x-www-form-urlencoded';
const REFUSED = {
  status: 'error',
  type: 'validation_failed',
  requestID: '0192f7a4-6b1c-7d20-8f4e-51c7e2a90b13',
  message: 'No.',
  data: { fields: [{ field: 'cores', rule: 'minimum', message: 'No.' }] },
};
const GOOD = 'cores=2&mem=4096&disk=40&os=debian_12&hostsystem=nl_ryzen';

interface ExchangeParts {
  readonly method?: string;
  readonly path: string;
  readonly type?: string;
  readonly body?: string;
  readonly status?: number;
  readonly response?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

function rawExchange({
  method = 'PUT',
  path,
  type = FORM,
  body,
  status = 422,
  response = REFUSED,
  headers = {},
}: ExchangeParts): RawExchange {
  return {
    method,
    url: `https://api.example/v1${path}`,
    requestHeaders: body === undefined ? {} : { 'content-type': type },
    requestBody: body,
    at: '',
    status,
    responseHeaders: { 'content-type': 'application/json', ...headers },
    bytes: new TextEncoder().encode(JSON.stringify(response)),
    milliseconds: 1,
  };
}

function judge(document: OpenApiDocument, ...all: readonly ExchangeParts[]): readonly Finding[] {
  const recorder = createRecorder(document);
  for (const one of all) recorder.take(rawExchange(one));
  return recorder.report(new URL('https://api.example/v1')).findings.filter(({ verdict }) => verdict !== 'unverified');
}

const reseller = parseDocument(bundle);

describe('requests of other programs', () => {
  test.each<[string, ExchangeParts, string]>([
    [
      'an unknown field',
      { path: '/vm/create', body: `${GOOD}&netwrok_speed=1` },
      "the client's form: netwrok_speed is not known here; known are cores,",
    ],
    ['a missing required field', { path: '/vm/create', body: GOOD.replace('cores=2&', '') }, "the client's form: cores is required"],
    [
      'a value of another type',
      { path: '/vm/create', body: GOOD.replace('cores=2', 'cores=two') },
      "the client's form: cores must be an integer",
    ],
    ['a field twice', { path: '/vm/create', body: `${GOOD}&cores=2` }, "the client's form: cores must be given only once"],
    ['no form at all', { path: '/vm/create' }, "the client's form: cores is required"],
    ['JSON', { path: '/vm/create', type: 'application/json', body: '{"cores":2}' }, 'the client sends its form as application/json'],
    [
      'a body where none is described',
      { method: 'POST', path: '/domain/a.example/authcode', body: 'x=1', status: 404 },
      'the client sends a body, which the document does not describe',
    ],
    [
      'an unknown query parameter',
      { method: 'GET', path: '/domain/list?page=2', status: 400 },
      'the client sends the query parameter page, which the document does not describe',
    ],
    ['an invalid path parameter', { method: 'POST', path: '/vm/1/reinstall', status: 404 }, "the client's path parameter vmid"],
  ])('with %s are findings about the client', (_, parts, message) => {
    const found = judge(reseller, parts).filter(({ check }) => check === 'request-described');
    expect(found.map((finding) => [finding.about, finding.verdict])).toContainEqual(['client', 'violation']);
    expect(found.map((finding) => finding.message)).toContainEqual(expect.stringContaining(message));
    expect(found.every(({ curl }) => curl.startsWith('curl'))).toBe(true);
  });

  test('that conform to the document have no findings', () => {
    expect(
      judge(
        reseller,
        { path: '/vm/create', body: GOOD },
        {
          method: 'POST',
          path: '/account/requests',
          body: 'offset=50',
          status: 401,
          response: { ...REFUSED, requestID: '0192f7a4-6b1c-7d20-8f4e-51c7e2a90b14', data: null },
        },
      ),
    ).toEqual([]);
  });

  test('may have the API key in the query where the document says so, and nothing else', () => {
    const document: OpenApiDocument = {
      openapi: '3.1.0',
      info: { title: 'A', version: '1' },
      components: { securitySchemes: { Query: { type: 'apiKey', in: 'query', name: 'key' } } },
      paths: {
        '/things': { get: { operationId: 'listThings', security: [{ Query: [] }], responses: { 401: { description: 'no key' } } } },
      },
    };
    const messages = (path: string) =>
      judge(document, { method: 'GET', path, status: 401 })
        .filter(({ check }) => check === 'request-described')
        .map(({ message }) => message);
    expect(messages('/things?key=1')).toEqual([]);
    expect(messages('/things?key=1&keys=2')).toEqual(['the client sends the query parameter keys, which the document does not describe']);
  });

  test('do not reveal secret values', () => {
    const text = JSON.stringify(
      judge(reseller, { method: 'POST', path: '/domain/register', body: 'domain=7&handle=HDL-1&authcode=hunter2-secret&authcode=x' }),
    );
    expect(text).toContain('request-described');
    expect(text).not.toContain('hunter2-secret');
  });

  test('that the service accepts against an assumed rule are learned', () => {
    const assumed: OpenApiDocument = {
      openapi: '3.1.0',
      info: { title: 'A', version: '1' },
      paths: {
        '/things': {
          put: {
            operationId: 'makeThing',
            'x-provenance': 'inferred',
            requestBody: {
              required: true,
              content: {
                [FORM]: { schema: { type: 'object', properties: { size: { type: 'integer', maximum: 9 } }, additionalProperties: false } },
              },
            },
            responses: { 200: { description: 'ok', content: { 'application/json': { schema: {} } } } },
          },
        },
      },
    };
    const taken = judge(assumed, { path: '/things', body: 'size=10&more=1', status: 200, response: {} });
    expect(taken.map(({ verdict, proposals }) => [verdict, proposals])).toEqual([
      ['learned', [{ kind: 'add-entry', at: expect.stringMatching(/responses\/200$/), key: 'x-for-invalid-form', value: true }]],
      ['learned', [{ kind: 'remove-entry', at: expect.stringMatching(/\/size$/), key: 'maximum' }]],
    ]);
    const clientFindings = (status: number) =>
      judge(assumed, { path: '/things', body: 'size=10', status, response: {} }).filter(({ about }) => about === 'client');
    for (const status of [400, 413, 415, 422]) expect(clientFindings(status)).toMatchObject([{ verdict: 'violation' }]);
    for (const status of [401, 404, 409, 429, 500]) expect(clientFindings(status)).toEqual([]);
  });
});

describe('response headers', () => {
  const withHeader = (provenance: string): OpenApiDocument => ({
    openapi: '3.1.0',
    info: { title: 'A', version: '1' },
    paths: {
      '/things': {
        get: {
          operationId: 'listThings',
          responses: {
            200: {
              description: 'ok',
              headers: {
                'X-Total': { description: 'All.', required: true, 'x-provenance': provenance, schema: { type: 'integer', minimum: 0 } },
              },
              content: { 'application/json': { schema: {} } },
            },
          },
        },
      },
    },
  });
  const listed = (headers: Readonly<Record<string, string>>): ExchangeParts => ({
    method: 'GET',
    path: '/things',
    status: 200,
    response: [],
    headers,
  });

  test('that the document describes only elsewhere are described by the same reference', () => {
    const document = withHeader('shown');
    const read = {
      operationId: 'readThing',
      responses: { 200: { description: 'ok', headers: { 'X-Left': { $ref: '#/components/headers/Left' } } } },
    };
    const left = { description: 'Left.', schema: { type: 'integer' } };
    const found = judge(
      { ...document, paths: { ...document.paths, '/thing': { get: read } }, components: { headers: { Left: left } } },
      listed({ 'x-total': '1', 'x-left': '2' }),
    );
    expect(found).toMatchObject([
      { check: 'header-described', proposals: [{ key: 'x-left', value: { $ref: '#/components/headers/Left' } }] },
    ]);
  });

  test('that are required and missing are a violation or learned, by their provenance', () => {
    expect(judge(withHeader('shown'), listed({}))).toMatchObject([
      { check: 'header-present', verdict: 'violation', message: 'the header X-Total is missing', proposals: [] },
    ]);
    expect(judge(withHeader('inferred'), listed({}))).toMatchObject([
      {
        check: 'header-present',
        verdict: 'learned',
        proposals: [{ kind: 'remove-entry', key: 'required', at: expect.stringMatching(/X-Total$/) }],
      },
    ]);
  });

  test('are validated by their schema', () => {
    expect(judge(withHeader('shown'), listed({ 'x-total': 'many' }))).toMatchObject([
      { check: 'header-present', message: 'the header X-Total must be an integer' },
    ]);
    expect(judge(withHeader('shown'), listed({ 'x-total': '-1' }))).toMatchObject([
      { check: 'header-present', message: 'the header X-Total must be an integer of at least 0' },
    ]);
    expect(judge(withHeader('shown'), listed({ 'x-total': '12' }))).toEqual([]);
  });
});

test('groups operations that fail in the same way into one finding', () => {
  const failed = (path: string): ExchangeParts => ({
    method: 'GET',
    path,
    status: 500,
    response: { ...REFUSED, type: 'internal_error', data: null },
  });
  const found = judge(reseller, failed('/domain/list'), failed('/accounting/sales'), failed('/domain/list'), {
    ...failed('/vm/list/hosts'),
    status: 502,
  });
  const failures = found.filter(({ check }) => check === 'server-error');
  expect(failures.map(({ message, touches }) => [message, touches.map(({ operation, times }) => `${operation} ${times}`)])).toEqual([
    ['the service fails with 500', ['listDomains 2', 'listSales 1']],
    ['the service fails with 502', ['listVmHosts 1']],
  ]);
});
