import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { inspect } from 'node:util';

import { afterEach, expect, onTestFinished, test, vi } from 'vitest';

import {
  createAccount,
  createClient,
  deleteSnapshot,
  getClock,
  listVms,
  InvalidError,
  setCreditLimit,
  terminateDomain,
  verifyOtp,
} from '../src/index.ts';

interface Sent {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly authorization: string | undefined;
  readonly contentType: string | undefined;
  readonly body: string;
}
interface ServedResponse {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Does not wait between attempts. */
const clock = { now: Date.now, sleep: async () => {} };
const json = { 'content-type': 'application/json' };
const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

/** A client of a server that sends the same response to every request, and the requests that the server received. */
async function clientOf(served: ServedResponse) {
  const sent: Sent[] = [];
  const take = async (request: IncomingMessage): Promise<void> => {
    const { method, url, headers } = request;
    sent.push({ method, url, authorization: headers.authorization, contentType: headers['content-type'], body: await text(request) });
  };
  const server = createServer((request, response) => {
    void take(request).then(() => response.writeHead(served.status, served.headers).end(served.body));
  }).listen(0, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  const address = server.address();
  const baseUrl = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/`;
  return { baseUrl, client: createClient({ baseUrl, token: 'operator-token', clock }), sent };
}

test('sends a JSON body with the token', async () => {
  const account = {
    id: 'a',
    name: 'Nordwind',
    credit_limit: '10.00',
    unpaid: '0.00',
    isolated: false,
    created: '2024-11-04T14:46:40.668Z',
  };
  const { client, sent } = await clientOf({ status: 201, headers: json, body: JSON.stringify(account) });
  const { data, status } = await createAccount({ client, body: { name: 'Nordwind', credit_limit: '10.00' } }).withMeta();
  expect({ data, status }).toEqual({ data: account, status: 201 });
  expect(sent).toEqual([
    {
      method: 'POST',
      url: '/accounts',
      authorization: 'Bearer operator-token',
      contentType: 'application/json',
      body: '{"name":"Nordwind","credit_limit":"10.00"}',
    },
  ]);
});

test('encodes path and query, and sends no body if there is none', async () => {
  const { client, sent } = await clientOf({ status: 200, headers: json, body: '{"items":[],"next_cursor":null,"name":"a"}' });
  await listVms({ client, query: { limit: 200, state: 'running', cursor: 'MDE5MmY3YTQ=' } });
  await terminateDomain({ client, path: { domain: 'a/b?c' } });
  expect(sent.map(({ method, url, contentType, body }) => ({ method, url, contentType, body }))).toEqual([
    { method: 'GET', url: '/vms?limit=200&state=running&cursor=MDE5MmY3YTQ%3D', contentType: undefined, body: '' },
    { method: 'POST', url: '/domains/a%2Fb%3Fc/terminate', contentType: undefined, body: '' },
  ]);
});

test('sends no token if it is null, whatever the environment has', async () => {
  vi.stubEnv('RESELLER_OPERATOR_TOKEN', 'operator-token');
  onTestFinished(() => void vi.unstubAllEnvs());
  const { baseUrl, sent } = await clientOf({ status: 200, headers: json, body: '{"items":[],"next_cursor":null}' });
  await listVms({ client: createClient({ baseUrl, token: null }) });
  expect(sent.map(({ authorization }) => authorization)).toEqual([undefined]);
});

const problem = (status: number, more: object = {}): ServedResponse => ({
  status,
  headers: { 'content-type': 'application/problem+json; charset=utf-8' },
  body: JSON.stringify({
    type: `https://operator.reseller.invalid/problems/of-${status}`,
    title: 'Refused',
    status,
    detail: 'One rule is broken; see errors.',
    instance: 'urn:uuid:0192f7a4-6b1c-7d20-8f4e-51c7e2a90b13',
    ...more,
  }),
});

test('throws a problem with every broken rule', async () => {
  const errors = [{ pointer: '#/credit_limit', detail: 'must be an amount from 0 to 9999999.99' }];
  const { client } = await clientOf(problem(422, { errors }));
  const error: unknown = await setCreditLimit({ client, path: { account_id: 'a' }, body: { credit_limit: '-1' } }).catch(
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(InvalidError);
  expect(error).toMatchObject({
    operation: 'setCreditLimit',
    status: 422,
    type: 'https://operator.reseller.invalid/problems/of-422',
    requestID: '0192f7a4-6b1c-7d20-8f4e-51c7e2a90b13',
    attempts: 1,
    uncertain: false,
    fields: [{ field: '#/credit_limit', message: 'must be an amount from 0 to 9999999.99' }],
    cause: { title: 'Refused', detail: 'One rule is broken; see errors.', errors },
    message: 'setCreditLimit: Refused (422): One rule is broken; see errors.\n#/credit_limit must be an amount from 0 to 9999999.99',
  });
});

test.each([
  [400, 'InvalidError'],
  [401, 'AuthenticationError'],
  [403, 'PermissionError'],
  [404, 'NotFoundError'],
  [409, 'ConflictError'],
  [413, 'InvalidError'],
  [415, 'InvalidError'],
  [418, 'ResellerError'],
  [429, 'RateLimitError'],
  [501, 'ServerError'],
])('maps a problem with status %i to a %s with a known outcome', async (status, name) => {
  const { baseUrl } = await clientOf(problem(status));
  const client = createClient({ baseUrl, token: 'operator-token', maxRetries: 0 });
  const body = { name: 'Nordwind', credit_limit: '10.00' };
  await expect(createAccount({ client, body })).rejects.toMatchObject({ name, status, uncertain: false });
});

test('reads a problem that has only a title', async () => {
  const { client } = await clientOf({
    status: 404,
    headers: { 'content-type': 'application/problem+json' },
    body: '{"title":"Not found"}',
  });
  await expect(getClock({ client })).rejects.toMatchObject({
    name: 'NotFoundError',
    status: 404,
    message: 'getClock: Not found (404)',
    headers: expect.any(Headers),
  });
});

test('throws an unknown outcome after a 500 if the change must not be repeated', async () => {
  const { client, sent } = await clientOf(problem(500));
  await expect(createAccount({ client, body: { name: 'Nordwind', credit_limit: '10.00' } })).rejects.toMatchObject({
    name: 'OutcomeUnknownError',
    uncertain: true,
    cause: { name: 'ServerError', status: 500 },
  });
  expect(sent).toHaveLength(1);
});

test('returns undefined for a response without a body', async () => {
  const { client } = await clientOf({ status: 204 });
  expect(await deleteSnapshot({ client, path: { snapshot: 'before' } })).toBeUndefined();
  expect(await deleteSnapshot({ client, path: { snapshot: 'before' } }).withMeta()).toMatchObject({ status: 204, attempts: 1 });
});

test.each<[string, ServedResponse, object]>([
  ['a page', { status: 200, headers: { 'content-type': 'text/html' }, body: '<h1>Welcome</h1>' }, { status: 200, reason: 'html' }],
  ['a page of a gateway', { status: 404, body: '<h1>Not found</h1>' }, { status: 404, reason: 'html' }],
  ['other JSON', { status: 404, headers: json, body: '{"error":"no route"}' }, { status: 404, reason: 'no-envelope' }],
])('reports that %s is not from the API', async (_, response, expected) => {
  const { client } = await clientOf(response);
  await expect(getClock({ client })).rejects.toMatchObject({ name: 'ResponseError', ...expected });
});

test('does not follow a redirect, so that the token stays with its server', async () => {
  const other = await clientOf({ status: 200, headers: json, body: '{}' });
  const { client } = await clientOf({ status: 307, headers: { location: other.baseUrl } });
  await expect(getClock({ client })).rejects.toMatchObject({ name: 'ResponseError', status: 307, reason: 'redirect' });
  expect(other.sent).toEqual([]);
});

test('refuses an invalid configuration or path before it sends anything', async () => {
  const baseUrl = 'http://127.0.0.1:1';
  expect(() => createClient({ baseUrl: '', token: 'a' })).toThrow('The baseUrl must be an http or https address without a query, got .');
  expect(() => createClient({ baseUrl, token: '' })).toThrow('The token is not set.');
  expect(() => createClient({ baseUrl, token: 'line\nbreak' })).toThrow('The token must be visible ASCII');
  const client = createClient({ baseUrl, token: 'a' });
  await expect(terminateDomain({ client, path: { domain: '..' } })).rejects.toMatchObject({ name: 'InvalidError', attempts: 0 });
});

/** A client of a server whose first responses fail, and which then succeeds. */
async function failingServer(failures: number, fail: (response: ServerResponse) => void) {
  let left = failures;
  const server = createServer((_, response) => {
    if (left-- > 0) fail(response);
    else response.writeHead(200, json).end('{"id":"a","items":[],"next_cursor":null}');
  }).listen(0, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  const address = server.address();
  const baseUrl = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
  return { client: createClient({ baseUrl, token: 'operator-token', timeoutMs: 5_000, clock }), left: () => left };
}

const unavailable = (response: ServerResponse) => {
  const { headers, body } = problem(503);
  response.writeHead(503, { ...headers, 'retry-after': '0' }).end(body);
};
const limited = (response: ServerResponse) => {
  const { headers, body } = problem(429);
  response.writeHead(429, { ...headers, 'retry-after': '0' }).end(body);
};
const failures: [string, (response: ServerResponse) => void][] = [
  ['a reset', (response) => void response.socket?.resetAndDestroy()],
  ['a problem 503', unavailable],
  ['a page of a gateway', (response) => void response.writeHead(502).end('<html>')],
];

test.each(failures)('retries a read after %s', async (_, fail) => {
  const { client } = await failingServer(2, fail);
  expect(await listVms({ client })).toMatchObject({ items: [], next_cursor: null });
});

test.each(failures)('retries a change that the document marks as repeatable after %s', async (_, fail) => {
  const { client } = await failingServer(2, fail);
  const call = setCreditLimit({ client, path: { account_id: 'a' }, body: { credit_limit: '1.00' } });
  expect(await call.withMeta()).toMatchObject({ status: 200, attempts: 3 });
});

test.each(failures.filter(([name]) => name !== 'a problem 503'))('does not retry any other change after %s', async (_, fail) => {
  const { client, left } = await failingServer(2, fail);
  await expect(createAccount({ client, body: { name: 'Nordwind', credit_limit: '10.00' } })).rejects.toMatchObject({
    name: 'OutcomeUnknownError',
    operation: 'createAccount',
    attempts: 1,
    uncertain: true,
  });
  expect(left()).toBe(1);
});

test('retries a change that the API itself did not carry out', async () => {
  const { client } = await failingServer(2, limited);
  const call = createAccount({ client, body: { name: 'Nordwind', credit_limit: '10.00' } });
  expect(await call.withMeta()).toMatchObject({ status: 200, attempts: 3 });
});

test('throws after the timeout if no response comes', async () => {
  const { client } = await failingServer(9, () => {});
  await expect(getClock({ client, timeoutMs: 50, maxRetries: 1 })).rejects.toMatchObject({ name: 'TimeoutError', attempts: 2 });
  const signal = AbortSignal.abort(new Error('enough'));
  await expect(getClock({ client, signal })).rejects.toMatchObject({ name: 'AbortedError', cause: { message: 'enough' } });
});

test('never shows the token in an error', async () => {
  const { client } = await failingServer(9, (response) => void response.socket?.resetAndDestroy());
  const error: unknown = await getClock({ client, maxRetries: 0 }).catch((thrown: unknown) => thrown);
  expect(inspect(error, { depth: 9, showHidden: true })).not.toContain('operator-token');
});

test('the curl command of an error has the body without secrets', async () => {
  const { client } = await clientOf(problem(422));
  const error: unknown = await verifyOtp({ client, body: { code: '12345678' } }).catch((thrown: unknown) => thrown);
  expect(Object(error).curl).toMatch(
    /^curl -X POST 'http:[^']+' -H "Authorization: Bearer \$TOKEN" -H 'Content-Type: application\/json' --data-raw '\{"code":"\*\*\*"\}'$/,
  );
  expect(inspect(error, { depth: 9, showHidden: true })).not.toContain('12345678');
});

test.each<[string, object]>([
  ["The environment 'prod' is unknown. Use sandbox, or pass the address as baseUrl.", { environment: 'prod' }],
  ["The environment 'toString' is unknown.", { environment: 'toString' }],
  ['Set either baseUrl or environment.', { environment: 'sandbox', baseUrl: 'http://a.test' }],
  ['timeoutMs must be a positive number of milliseconds, got -1.', { environment: 'sandbox', timeoutMs: -1 }],
  ['fetch must be a function, got "x".', { environment: 'sandbox', fetch: 'x' }],
])('createClient refuses an option that it cannot use: %s', (message, options) => {
  expect(() => Reflect.apply(createClient, undefined, [{ token: 'token', ...options }])).toThrow(message);
});

test('finds a sandbox and its token in the environment', async () => {
  const sent: (string | null)[] = [];
  const fetch = async (url: string, { headers }: RequestInit) => {
    sent.push(new URL(url).host, new Headers(headers).get('authorization'));
    return Response.json({ items: [] });
  };
  onTestFinished(() => void vi.unstubAllEnvs());
  vi.stubEnv('RESELLER_OPERATOR_TOKEN', 'from-the-environment');
  await listVms({ client: createClient({ environment: 'sandbox', fetch }) });
  vi.stubEnv('RESELLER_SANDBOX_OPERATOR_URL', 'http://127.0.0.1:5011');
  await listVms({ client: createClient({ environment: 'sandbox', token: 'own', fetch }) });
  expect(sent).toEqual(['127.0.0.1:4011', 'Bearer from-the-environment', '127.0.0.1:5011', 'Bearer own']);
});

const EMPTY: readonly (readonly [string, ServedResponse])[] = [
  ['200 without a body', { status: 200 }],
  ['200 with Content-Length 0', { status: 200, headers: { ...json, 'content-length': '0' } }],
  ['201 without a body', { status: 201, headers: json }],
  ['204', { status: 204 }],
  ['205', { status: 205 }],
  ['an empty object', { status: 200, headers: json, body: '{}' }],
  ['null', { status: 200, headers: json, body: 'null' }],
  ['a list', { status: 200, headers: json, body: '[]' }],
  ['the data of another operation', { status: 200, headers: json, body: '{"hello":1}' }],
];

test.each(EMPTY)('a success without the body that the document requires is an error: %s', async (_, served) => {
  const { client, sent } = await clientOf(served);
  const change = createAccount({ client, body: { name: 'Anna', credit_limit: '1.00' } });
  await expect(change).rejects.toMatchObject({ name: 'OutcomeUnknownError', uncertain: true, attempts: 1 });
  expect(sent).toHaveLength(1);
  await expect(listVms({ client })).rejects.toMatchObject({ name: 'ResponseError', uncertain: false });
});

test.each([204, 200])('an operation whose document has no body succeeds without one, with status %i', async (status) => {
  const { client } = await clientOf({ status });
  const call = deleteSnapshot({ client, path: { snapshot: 'before' } });
  expect(await call.withMeta()).toMatchObject({ status, attempts: 1 });
});

test('a function without a client says that it needs one', () => {
  expect(() => Reflect.apply(getClock, undefined, [{}])).toThrow('The client is missing. Pass what createClient returned');
});
