import { connect } from 'node:net';
import { text } from 'node:stream/consumers';

import { writeForm } from '@reseller/contract';
import { expect, test } from 'vitest';

import { SMALL_VM, sharedService } from '../../../test/harness.ts';
import type { TestService } from '../../../test/harness.ts';
import { resellerApi } from '../../../test/http-client.ts';
import { apiOperations } from '../reseller/api.ts';

const customer = sharedService();

const FORM = 'application/x-www-form-urlencoded';

const withKey = (service: TestService, init: RequestInit = {}): RequestInit => ({
  ...init,
  headers: { 'x-service-apikey': service.apiKey, ...Object.fromEntries(new Headers(init.headers)) },
});

test('responds with 404 to an unknown path, with and without a key', async () => {
  const service = await customer();
  for (const path of [
    '/',
    '/vm',
    '/vm/create/',
    '/VM/create',
    '/account/otp/x',
    '/vm/10000/x/config',
    '/..%2f..%2fetc/passwd',
    `/${'x'.repeat(5000)}`,
  ]) {
    for (const init of [{}, withKey(service)])
      expect(await service.send(path, init)).toMatchObject({ status: 404, body: { type: 'not_found' } });
  }
});

test('responds with 405 and Allow to a wrong method', async () => {
  const service = await customer();
  for (const [path, method, allow] of [
    ['/vm/create', 'GET', 'PUT'],
    ['/vm/create', 'POST', 'PUT'],
    ['/accounting/sales', 'DELETE', 'GET'],
    ['/account/otp', 'GET', 'POST'],
  ] as const) {
    const { status, body, headers } = await service.send(path, withKey(service, { method }));
    expect([status, body.type, headers.get('allow')]).toEqual([405, 'method_not_allowed', allow]);
  }
});

test.each(['application/json', 'multipart/form-data; boundary=x', 'text/plain', 'nonsense', `${FORM}-not`])(
  'responds with 415 to a body of the type %s',
  async (type) => {
    const service = await customer();
    const response = await service.send(
      '/vm/create',
      withKey(service, { method: 'PUT', headers: { 'content-type': type }, body: '{"cores":2}' }),
    );
    expect(response).toMatchObject({ status: 415, body: { type: 'unsupported_media_type' } });
  },
);

test('accepts a charset parameter of the content type', async () => {
  const service = await customer();
  const body = new URLSearchParams(writeForm(resellerApi.operation('createVm'), SMALL_VM)).toString();
  const response = await service.send(
    '/vm/create',
    withKey(service, { method: 'PUT', headers: { 'content-type': `${FORM}; charset=UTF-8` }, body }),
  );
  expect(response.status).toBe(200);
});

test('responds with 413 to a body of more than 64 KiB, and to one of 1 MB', async () => {
  const service = await customer();
  for (const length of [65_537, 1_000_000]) {
    const response = await service.send(
      '/vm/create',
      withKey(service, { method: 'PUT', headers: { 'content-type': FORM }, body: `hostname=${'x'.repeat(length)}` }),
    );
    expect(response).toMatchObject({ status: 413, body: { type: 'payload_too_large' } });
  }
});

const bodies: readonly (readonly [string, string, number])[] = [
  ['broken percent-encoding', 'cores=%zz', 400],
  ['bytes that are not UTF-8', 'hostname=%ff%fe', 400],
  ['a lone surrogate', 'hostname=%ed%a0%80', 400],
  ['a NUL byte', 'hostname=a%00b', 422],
  ['SQL', "hostname=x'%3B+DROP+TABLE+vms%3B--", 422],
  ['a header', 'hostname=a%0d%0aSet-Cookie:+x', 422],
  ['a repeated field', 'cores=1&cores=2', 422],
  ['a field named like a prototype', '__proto__=1&constructor=2&toString=3', 422],
  ['nested fields', 'cores[a]=1&cores[]=2', 422],
  ['only separators', '&&&===&', 422],
  ['thirteen thousand fields', 'x=1&'.repeat(13_000), 400],
  ['sixty thousand separators', '&'.repeat(60_000), 400],
  ['an integer beyond 2^53', 'cores=9007199254740993', 422],
  ['a hexadecimal integer', 'cores=0x10', 422],
  ['an exponent', 'cores=1e1', 422],
  ['infinity', 'cores=Infinity', 422],
  ['digits of another script', `cores=${encodeURIComponent('٢')}`, 422],
  ['nothing', '', 422],
];

test.each(bodies)('refuses and logs %s in a form, and never responds with 500', async (_, body, expected) => {
  const service = await customer();
  const { status } = await service.send('/vm/create', withKey(service, { method: 'PUT', headers: { 'content-type': FORM }, body }));
  expect(status).toBe(expected);
  const log = await service.call('listRequests');
  expect(log.body.data[0]).toMatchObject({ success: 0, endpoint: '/vm/create' });
});

test.each(apiOperations.map(({ id, operation }) => [id, operation] as const))(
  'reads a form of %s with 16 fields more than the document describes, and none with 17 more',
  async (_, operation) => {
    const service = await customer();
    const max = (operation.form?.fields.size ?? 0) + 16;
    const send = (count: number) =>
      service.send(
        operation.path.replaceAll(/\{\w+\}/g, 'x'),
        withKey(service, {
          method: operation.method,
          headers: { 'content-type': FORM },
          body: Array.from({ length: count }, (__, index) => `f${index}=1`).join('&'),
        }),
      );
    if (operation.method === 'GET') return;
    const refused = await send(max + 1);
    expect([refused.status, refused.body.message]).toEqual([400, expect.stringContaining(`more than ${max} fields`)]);
    const read = await send(max);
    expect(read.status).toBe(operation.form ? 422 : 400);
    expect(read.body.message).not.toContain('more than');
  },
);

test.each(['%00', '12%0a345', '%zz', '%ff', '..', '%2e%2e', "1'--", '💥', 'x'.repeat(900)])(
  "responds with 4xx to the path parameter '%s' in every operation with a path parameter",
  async (value) => {
    const service = await customer();
    for (const { operation } of apiOperations) {
      if (!operation.path.includes('{')) continue;
      const path = operation.path.replaceAll(/\{\w+\}/g, value);
      const { status } = await service.send(path, withKey(service, { method: operation.method }));
      expect(status >= 400 && status < 500, `${operation.id} has status ${status}`).toBe(true);
    }
  },
);

test.each([
  ['no HTTP at all', 'hello\r\n\r\n'],
  ['a header without a colon', 'GET /vm/list/hosts HTTP/1.1\r\nHost: localhost\r\nnonsense\r\n\r\n'],
  ['two lengths', 'PUT /vm/create HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab'],
])('%s: responds with 400 in the envelope and closes the connection', async (_, bytes) => {
  const service = await customer();
  const { port, hostname } = new URL(service.baseUrl);
  const socket = connect(Number(port), hostname);
  socket.write(bytes);
  const response = await text(socket);
  expect(response).toMatch(/^HTTP\/1\.1 400 /);
  expect(JSON.parse(response.slice(response.indexOf('\r\n\r\n')))).toMatchObject({ status: 'error', type: 'malformed_request' });
});
