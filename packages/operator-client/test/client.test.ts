import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { inspect } from 'node:util';

import { afterEach, expect, test } from 'vitest';

import {
  ConnectionError,
  createAccount,
  createClient,
  deleteSnapshot,
  getClock,
  listVms,
  OperatorProblem,
  orThrow,
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
interface Answered {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

const json = { 'content-type': 'application/json' };
const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

/** A client of a server that answers the same to everything, and what the server was sent. */
async function clientOf(answer: Answered) {
  const sent: Sent[] = [];
  const take = async (request: IncomingMessage): Promise<void> => {
    const { method, url, headers } = request;
    sent.push({ method, url, authorization: headers.authorization, contentType: headers['content-type'], body: await text(request) });
  };
  const server = createServer((request, response) => {
    void take(request).then(() => response.writeHead(answer.status, answer.headers).end(answer.body));
  }).listen(0, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  const address = server.address();
  const baseUrl = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/`;
  return { baseUrl, client: createClient({ baseUrl, token: 'operator-token' }), sent };
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
  const { data, error, response } = await createAccount({ client, body: { name: 'Nordwind', credit_limit: '10.00' } });
  expect({ data, error, status: response.status }).toEqual({ data: account, error: undefined, status: 201 });
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

test('sends path and query as they are meant, and no body where there is none', async () => {
  const { client, sent } = await clientOf({ status: 200, headers: json, body: '{"items":[],"next_cursor":null}' });
  await listVms({ client, query: { limit: 200, state: 'running', cursor: 'MDE5MmY3YTQ=' } });
  await terminateDomain({ client, path: { domain: 'a/b?c' } });
  expect(sent.map(({ method, url, contentType, body }) => ({ method, url, contentType, body }))).toEqual([
    { method: 'GET', url: '/vms?limit=200&state=running&cursor=MDE5MmY3YTQ%3D', contentType: undefined, body: '' },
    { method: 'POST', url: '/domains/a%2Fb%3Fc/terminate', contentType: undefined, body: '' },
  ]);
});

test('answers a problem, which orThrow throws with every broken rule', async () => {
  const problem = {
    type: 'https://operator.reseller.invalid/problems/validation-failed',
    title: 'The body breaks a rule',
    status: 422,
    detail: 'One rule is broken; see errors.',
    instance: 'urn:uuid:0192f7a4-6b1c-7d20-8f4e-51c7e2a90b13',
    errors: [{ pointer: '#/credit_limit', detail: 'must be an amount from 0 to 9999999.99' }],
  };
  const { client } = await clientOf({
    status: 422,
    headers: { 'content-type': 'application/problem+json; charset=utf-8' },
    body: JSON.stringify(problem),
  });
  const request = () => setCreditLimit({ client, path: { account_id: 'a' }, body: { credit_limit: '-1' } });
  const { data, error } = await request();
  expect({ data, error }).toEqual({ data: undefined, error: problem });
  await expect(orThrow(request())).rejects.toThrow(OperatorProblem);
  await expect(orThrow(request())).rejects.toMatchObject({
    problem,
    message: 'The body breaks a rule (422): One rule is broken; see errors.\n#/credit_limit must be an amount from 0 to 9999999.99',
  });
});

test('answers no data where there is none', async () => {
  const { client } = await clientOf({ status: 204 });
  expect(await orThrow(deleteSnapshot({ client, path: { snapshot: 'before' } }))).toBeUndefined();
});

test("makes a problem of a failure that is not the service's own", async () => {
  const { client } = await clientOf({ status: 502, headers: { 'content-type': 'text/html' }, body: '<h1>Bad gateway</h1>' });
  const { error } = await getClock({ client });
  expect(error).toMatchObject({ type: 'about:blank', title: 'Bad Gateway', status: 502 });
});

test('says where a good answer is not that of an operator API', async () => {
  const { client } = await clientOf({ status: 200, headers: { 'content-type': 'text/html' }, body: '<h1>Welcome</h1>' });
  await expect(getClock({ client })).rejects.toThrow(
    'GET /sandbox/clock: status 200 without JSON. Is the baseUrl that of an operator API?',
  );
});

test('follows no redirect, so that the token stays with its server', async () => {
  const other = await clientOf({ status: 200, headers: json, body: '{}' });
  const { client } = await clientOf({ status: 307, headers: { location: other.baseUrl } });
  await expect(verifyOtp({ client, body: { code: '48105529' } })).rejects.toMatchObject({
    name: 'AnswerError',
    status: 307,
    reason: 'redirect',
  });
  expect(other.sent).toEqual([]);
});

test('asks for a base address', async () => {
  await expect(getClock({ client: createClient() })).rejects.toThrow('The client has no baseUrl. Pass one to createClient.');
});

/** A client of a server that fails as often as it is told to, and then answers. */
async function failing(failures: number, fail: (response: ServerResponse) => void) {
  let left = failures;
  const server = createServer((_, response) => {
    if (left-- > 0) fail(response);
    else response.writeHead(200, json).end('{"items":[],"next_cursor":null}');
  }).listen(0, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  const address = server.address();
  const baseUrl = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
  return { client: createClient({ baseUrl, token: 'operator-token', timeoutMs: 5_000 }), left: () => left };
}

const failures: [string, (response: ServerResponse) => void][] = [
  ['a reset', (response) => void response.socket?.resetAndDestroy()],
  ['a 503', (response) => void response.writeHead(503, { ...json, 'retry-after': '0' }).end('{}')],
  ['a page of a gateway', (response) => void response.writeHead(502).end('<html>')],
];

test.each(failures)('sends a read again after %s', async (_, fail) => {
  const { client } = await failing(2, fail);
  expect(await orThrow(listVms({ client }))).toEqual({ items: [], next_cursor: null });
});

test('sends nothing else again', async () => {
  const { client, left } = await failing(2, (response) => void response.socket?.resetAndDestroy());
  const error: unknown = await createAccount({ client, body: { name: 'Nordwind', credit_limit: '10.00' } }).catch(
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(ConnectionError);
  expect(error).toMatchObject({ operation: 'POST /accounts', attempts: 1, uncertain: true });
  expect(left()).toBe(1);
});

test('gives up on a response that does not come', async () => {
  const { client } = await failing(9, () => {});
  await expect(getClock({ client, timeoutMs: 50, maxRetries: 1 })).rejects.toMatchObject({ name: 'TimeoutError', attempts: 2 });
  const signal = AbortSignal.abort(new Error('enough'));
  await expect(getClock({ client, signal })).rejects.toMatchObject({ name: 'AbortedError', cause: { message: 'enough' } });
});

test('no error shows the token', async () => {
  const { client } = await failing(9, (response) => void response.socket?.resetAndDestroy());
  const error: unknown = await getClock({ client, maxRetries: 0 }).catch((thrown: unknown) => thrown);
  expect(inspect(error, { depth: 9, showHidden: true })).not.toContain('operator-token');
});
