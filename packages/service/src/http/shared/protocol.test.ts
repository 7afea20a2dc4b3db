/** The responses of both APIs to requests that violate HTTP, and to unusual methods and headers. */
import { METHODS } from 'node:http';

import { expect, test } from 'vitest';

import { OPERATOR_TOKEN, startOperator } from '../../../test/operator.ts';
import type { TestOperator } from '../../../test/operator.ts';
import { exchange, requestText } from '../../../test/raw-http.ts';
import type { RawResponse } from '../../../test/raw-http.ts';
import { operatorApi } from '../operator/api.ts';
import { apiOperations } from '../reseller/api.ts';

const FORM = 'Content-Type: application/x-www-form-urlencoded';

interface Api {
  readonly name: 'reseller' | 'operator';
  readonly url: string;
  /** Header lines of a request with a valid key. */
  readonly headers: readonly string[];
}

const apisOf = (service: TestOperator): readonly Api[] => [
  { name: 'reseller', url: service.baseUrl, headers: ['Host: localhost', `X-SERVICE-APIKEY: ${service.apiKey}`] },
  { name: 'operator', url: service.operatorUrl, headers: ['Host: localhost', `Authorization: Bearer ${OPERATOR_TOKEN}`] },
];

/** Fails the test unless a response is a refusal in the form of its API, with the headers of every response. */
function expectRefusal({ name }: Api, { status, headers, text }: RawResponse, expected: number): void {
  expect(status).toBe(expected);
  expect(headers.get('cache-control')).toBe('no-store');
  expect(headers.get('x-content-type-options')).toBe('nosniff');
  const body = JSON.parse(text);
  if (name === 'reseller')
    expect(body).toMatchObject({ status: 'error', type: expect.any(String), message: expect.any(String), data: null });
  else
    expect(body).toMatchObject({
      status: expected,
      title: expect.any(String),
      detail: expect.any(String),
      instance: expect.stringMatching(/^urn:uuid:/),
    });
  expect(headers.get('content-type')).toMatch(name === 'reseller' ? /^application\/json/ : /^application\/problem\+json/);
}

const loggedMethods = async ({ store }: TestOperator) =>
  await store.read((db) => db.selectFrom('request_log').select(['method', 'endpoint', 'error_type']).orderBy('number').execute());

test('responds with 405 and Allow to every method that Node knows, and logs the request of a valid key', async () => {
  const service = await startOperator();
  for (const api of apisOf(service)) {
    const [path, allowed] = api.name === 'reseller' ? ['/vm/create', ['PUT']] : ['/accounts', ['GET', 'POST']];
    for (const method of METHODS.filter((one) => !allowed.includes(one))) {
      const response = await exchange(api.url, requestText(`${method} ${path} HTTP/1.1`, api.headers));
      if (method === 'HEAD') expect([response.status, response.text]).toEqual([405, '']);
      else expectRefusal(api, response, 405);
      expect([method, response.headers.get('allow')]).toEqual([method, allowed.join(', ')]);
    }
  }
  const expected = METHODS.filter((method) => method !== 'PUT').map((method) => ({
    method,
    endpoint: '/vm/create',
    error_type: 'method_not_allowed',
  }));
  expect(await loggedMethods(service)).toEqual(expected);
});

test('lists each method of each path once in Allow', async () => {
  const service = await startOperator();
  const paths = { reseller: apiOperations, operator: operatorApi };
  for (const api of apisOf(service)) {
    for (const { operation } of paths[api.name]) {
      const path = operation.path.replaceAll(/\{\w+\}/g, '12345');
      const { status, headers } = await exchange(api.url, requestText(`PURGE ${path} HTTP/1.1`, api.headers));
      const allowed = headers.get('allow')?.split(', ') ?? [];
      expect(status).toBe(405);
      expect(allowed).toContain(operation.method);
      expect(allowed).toEqual([...new Set(allowed)]);
    }
    for (const path of ['/healthz', '/readyz']) {
      const { status, headers } = await exchange(api.url, requestText(`POST ${path} HTTP/1.1`, api.headers));
      expect([status, headers.get('allow')]).toEqual([405, 'GET']);
    }
  }
  const current = await service.send('/accounting/invoices/current', { method: 'POST', headers: { 'x-service-apikey': service.apiKey } });
  expect(current.headers.get('allow')).toBe('GET');
});

test('responds with 405 to CONNECT for a host, which is not a path of the service', async () => {
  const service = await startOperator();
  for (const api of apisOf(service)) {
    const response = await exchange(api.url, requestText('CONNECT example.net:443 HTTP/1.1', api.headers));
    expectRefusal(api, response, 405);
    expect(response.headers.get('allow')).toBe('');
  }
});

const faults: readonly (readonly [string, number, (api: Api) => string])[] = [
  ['two Host headers', 400, ({ headers }) => requestText('PUT /vm/create HTTP/1.1', [...headers, 'Host: y'])],
  ['no Host header', 400, ({ headers }) => requestText('PUT /vm/create HTTP/1.1', headers.slice(1))],
  ['two Content-Type headers', 400, ({ headers }) => requestText('PUT /vm/create HTTP/1.1', [...headers, FORM, FORM])],
  ['HTTP/2.0 in the request line', 505, ({ headers }) => requestText('PUT /vm/create HTTP/2.0', headers)],
  ['HTTP/0.9 in the request line', 505, ({ headers }) => requestText('PUT /vm/create HTTP/0.9', headers)],
  ['HTTP/1.2 in the request line', 505, ({ headers }) => requestText('PUT /vm/create HTTP/1.2', headers)],
  ['the preface of HTTP/2', 505, () => 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  [
    'Transfer-Encoding: identity, chunked',
    400,
    ({ headers }) => requestText('PUT /vm/create HTTP/1.1', [...headers, FORM, 'Transfer-Encoding: identity, chunked'], '0\r\n\r\n'),
  ],
  [
    'Transfer-Encoding: gzip',
    400,
    ({ headers }) => requestText('PUT /vm/create HTTP/1.1', [...headers, FORM, 'Transfer-Encoding: gzip'], '0\r\n\r\n'),
  ],
  [
    'both Content-Length and Transfer-Encoding',
    400,
    ({ headers }) =>
      requestText('PUT /vm/create HTTP/1.1', [...headers, FORM, 'Content-Length: 3', 'Transfer-Encoding: chunked'], '0\r\n\r\n'),
  ],
  [
    'Content-Encoding: gzip',
    415,
    ({ headers }) => requestText('PUT /vm/create HTTP/1.1', [...headers, FORM, 'Content-Encoding: gzip', 'Content-Length: 1'], 'a'),
  ],
  [
    'charset=iso-8859-1',
    415,
    ({ headers }) => requestText('PUT /vm/create HTTP/1.1', [...headers, `${FORM}; charset=iso-8859-1`, 'Content-Length: 1'], 'a'),
  ],
  [
    'charset="utf-16"',
    415,
    ({ headers }) => requestText('PUT /vm/create HTTP/1.1', [...headers, `${FORM}; Charset="utf-16"`, 'Content-Length: 1'], 'a'),
  ],
  ['a URL of 8,193 bytes', 414, ({ headers }) => requestText(`PUT /${'x'.repeat(8_192)} HTTP/1.1`, headers)],
  ['a URL of 20,000 bytes', 414, ({ headers }) => requestText(`PUT /${'x'.repeat(19_999)} HTTP/1.1`, headers)],
  ['a URL of a million bytes', 414, ({ headers }) => requestText(`PUT /${'x'.repeat(999_999)} HTTP/1.1`, headers)],
  ['a query of 20,000 bytes', 414, ({ headers }) => requestText(`PUT /vm/create?${'x'.repeat(20_000)} HTTP/1.1`, headers)],
  ['a header of 20,000 bytes', 431, ({ headers }) => requestText('PUT /vm/create HTTP/1.1', [...headers, `X: ${'x'.repeat(20_000)}`])],
  [
    'a thousand headers',
    431,
    ({ headers }) => requestText('PUT /vm/create HTTP/1.1', [...headers, ...Array.from({ length: 1_000 }, (_, n) => `X-${n}: some value`)]),
  ],
  ['a broken percent-encoding', 400, ({ headers }) => requestText('PUT /%zz HTTP/1.1', headers)],
];

test.each(faults)('%s: %i in the envelope or as a problem', async (_, status, request) => {
  const service = await startOperator();
  for (const api of apisOf(service)) {
    const response = await exchange(api.url, request(api));
    expect(response.status).toBe(status);
    expectRefusal(api, response, status);
  }
});

test('responds with 414 to a path segment that is too long for any identifier', async () => {
  const service = await startOperator();
  const lines = {
    reseller: `GET /domain/${'x'.repeat(1_025)}/info HTTP/1.1`,
    operator: `POST /domains/${'x'.repeat(1_025)}/terminate HTTP/1.1`,
  };
  for (const api of apisOf(service)) {
    const response = await exchange(api.url, requestText(lines[api.name], api.headers));
    expect(response.status).toBe(414);
    expectRefusal(api, response, 414);
  }
});

test('adds a refused request with a valid key to the request log', async () => {
  const service = await startOperator();
  const [reseller] = apisOf(service);
  if (!reseller) throw new Error('There is no reseller API.');
  await exchange(
    reseller.url,
    requestText('PUT /vm/create HTTP/1.1', [...reseller.headers, FORM, 'Content-Encoding: br', 'Content-Length: 1'], 'a'),
  );
  await exchange(reseller.url, requestText('PUT /vm/create HTTP/2.0', reseller.headers));
  expect((await loggedMethods(service)).map(({ error_type }) => error_type)).toEqual([
    'unsupported_media_type',
    'http_version_not_supported',
  ]);
});

test('responds once to a request whose body breaks after the response', async () => {
  const service = await startOperator();
  for (const api of apisOf(service)) {
    const request = requestText('POST /nothing HTTP/1.1', [...api.headers, FORM, 'Transfer-Encoding: chunked'], 'not a length\r\n');
    expect((await exchange(api.url, request)).text.match(/HTTP\/1\.1/g)).toBeNull();
  }
});

test('responds to bytes that follow a valid request on the same connection', async () => {
  const service = await startOperator();
  for (const { url } of apisOf(service)) {
    const { status, text } = await exchange(url, 'GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\nhello\r\n\r\n');
    expect(status).toBe(200);
    expect(text).toMatch(/^\{"status":"ok"\}HTTP\/1\.1 400 Bad Request\r\n/);
  }
});

test('accepts valid HTTP: any name of UTF-8, identity, HTTP/1.0, an unknown Expect, chunks', async () => {
  const service = await startOperator();
  const [reseller] = apisOf(service);
  if (!reseller) throw new Error('There is no reseller API.');
  const requests = [
    requestText('POST /account/requests HTTP/1.1', [...reseller.headers, `${FORM};charset="UTF-8"`, 'Content-Length: 8'], 'offset=1'),
    requestText(
      'POST /account/requests HTTP/1.1',
      [...reseller.headers, `${FORM}; charset=utf8`, 'Content-Encoding: identity', 'Content-Length: 8'],
      'offset=1',
    ),
    requestText('POST /account/requests HTTP/1.1', [...reseller.headers, FORM, 'Transfer-Encoding: Chunked'], '8\r\noffset=1\r\n0\r\n\r\n'),
    requestText('POST /account/requests HTTP/1.0', reseller.headers.slice(1)),
    requestText('POST /account/requests HTTP/1.1', [...reseller.headers, 'Expect: nothing']),
  ];
  for (const request of requests) expect((await exchange(reseller.url, request)).status).toBe(200);
});

test('sends the security headers with every response of both APIs', async () => {
  const service = await startOperator();
  for (const { url, headers } of apisOf(service)) {
    for (const path of ['/healthz', '/readyz', '/vm/list/hosts', '/accounts', '/metrics', '/nothing', '/%zz']) {
      const response = await exchange(url, requestText(`GET ${path} HTTP/1.1`, headers));
      expect([path, response.headers.get('cache-control'), response.headers.get('x-content-type-options')]).toEqual([
        path,
        'no-store',
        'nosniff',
      ]);
    }
  }
});

test('returns metrics only for the operator token', async () => {
  const service = await startOperator();
  const verifier = await service.operate('/verifiers', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"name":"Desk"}',
  });
  const { token } = Object(verifier.body);
  const ask = async (...headers: string[]) =>
    exchange(service.operatorUrl, requestText('GET /metrics HTTP/1.1', ['Host: localhost', ...headers]));
  expect((await ask()).status).toBe(401);
  expect((await ask(`Authorization: Bearer ${service.apiKey}`)).status).toBe(401);
  expect((await ask(`Authorization: Bearer ${token}`)).status).toBe(403);
  const metrics = await ask(`Authorization: Bearer ${OPERATOR_TOKEN}`);
  expect(metrics.status).toBe(200);
  expect(metrics.text).toContain('reseller_request_duration_seconds');
});
