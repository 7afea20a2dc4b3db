/** Credentials by the security schemes of a document, and tokens that are renewed. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { sendJson, startServer } from './raw-server.ts';
import type { RawServer, ReceivedRequest } from './raw-server.ts';
import { command } from './run-command.ts';
import type { CommandResult } from './run-command.ts';
import { temporaryFolder } from './workspace.ts';

const SECRET = 'secret-of-the-client';
const SCHEMES = {
  Header: { type: 'apiKey', in: 'header', name: 'X-Key' },
  Query: { type: 'apiKey', in: 'query', name: 'key' },
  Cookie: { type: 'apiKey', in: 'cookie', name: 'session' },
  Bearer: { type: 'http', scheme: 'bearer' },
  Basic: { type: 'http', scheme: 'basic' },
  Login: { type: 'oauth2', flows: { clientCredentials: { tokenUrl: '/token', scopes: { 'read:users': '', 'write:users': '' } } } },
};

function operation(id: string, security: unknown): unknown {
  const body = { 'application/json': { schema: { type: 'array' } } };
  return { get: { operationId: id, security, responses: { 200: { description: 'Fine.', content: body }, 401: { description: 'No.' } } } };
}

function documentWith(security: unknown): unknown {
  const paths = { '/users': operation('listUsers', security), '/groups': operation('listGroups', security) };
  return { openapi: '3.1.0', info: { title: 'Users', version: '1' }, paths, components: { securitySchemes: SCHEMES } };
}

async function run(server: RawServer, security: unknown, ...argv: readonly string[]): Promise<CommandResult> {
  const file = join(await temporaryFolder(), 'api.json');
  await writeFile(file, JSON.stringify(documentWith(security)));
  return command(['--target', server.url.href, '--document', file, ...argv], {});
}

/** A service that accepts requests with a certain credential. */
function startGuarded(isAllowed: (request: ReceivedRequest) => boolean): Promise<RawServer> {
  return startServer((request, response) => sendJson(response, isAllowed(request) ? 200 : 401, []));
}

test.each<[string, string, (request: ReceivedRequest) => boolean]>([
  ['Header', SECRET, ({ headers }) => headers['x-key'] === SECRET],
  ['Query', SECRET, ({ query }) => query.get('key') === SECRET],
  ['Cookie', SECRET, ({ headers }) => headers.cookie === `session=${SECRET}`],
  ['Bearer', SECRET, ({ headers }) => headers.authorization === `Bearer ${SECRET}`],
  ['Basic', `me:${SECRET}`, ({ headers }) => headers.authorization === `Basic ${Buffer.from(`me:${SECRET}`).toString('base64')}`],
])(
  'a credential for the scheme %s is sent as the document describes it, also when another scheme comes first',
  async (scheme, given, isAllowed) => {
    const server = await startGuarded(isAllowed);
    const others = Object.keys(SCHEMES).filter((name) => name !== scheme);
    const { output } = await run(
      server,
      [...others, scheme].map((name) => ({ [name]: [] })),
      '--credential',
      `${scheme}=${given}`,
    );
    expect(output).toContain('2 of 2 operations verified');
    expect(output).not.toContain(SECRET);
  },
);

interface TokenServer {
  readonly server: RawServer;
  readonly issued: readonly string[];
}

/** A service that issues tokens to a client, and refuses each token after a number of requests. */
async function startTokenServer(uses: number, seconds: number): Promise<TokenServer> {
  const issued: string[] = [];
  const left = new Map<string, number>();
  const server = await startServer(({ path, headers, body }, response) => {
    if (path === '/token') {
      const isClient = headers.authorization === `Basic ${Buffer.from(`me:${SECRET}`).toString('base64')}`;
      const form = new URLSearchParams(body);
      if (!isClient || form.get('grant_type') !== 'client_credentials' || form.get('scope') !== 'read:users')
        return sendJson(response, 400, { error: 'invalid_client' });
      const token = `token-${issued.length + 1}-of-the-test`;
      issued.push(token);
      left.set(token, uses);
      return sendJson(response, 200, { access_token: token, token_type: 'Bearer', expires_in: seconds });
    }
    const token = headers.authorization?.replace('Bearer ', '') ?? '';
    const rest = left.get(token) ?? 0;
    left.set(token, rest - 1);
    return sendJson(response, rest > 0 ? 200 : 401, []);
  });
  return { server, issued };
}

const LOGIN = [{ Login: ['read:users'] }];

test('client credentials get one token with the scopes of the operations, which no output contains', async () => {
  const { server, issued } = await startTokenServer(100, 3_600);
  const { code, output } = await run(server, LOGIN, '--credential', `Login=me:${SECRET}`);
  expect({ code, output }).toMatchObject({ code: 0, output: expect.stringContaining('2 of 2 operations verified') });
  expect(issued).toHaveLength(1);
  expect(output).not.toContain(SECRET);
  expect(output).not.toContain(issued[0]);
});

test('a token that the service refuses with 401 is renewed, and the request is sent once more', async () => {
  const { server, issued } = await startTokenServer(1, 3_600);
  const { code, output } = await run(server, LOGIN, '--credential', `Login=me:${SECRET}`);
  expect({ code, output }).toMatchObject({ code: 0, output: expect.stringContaining('2 of 2 operations verified') });
  expect(issued).toHaveLength(2);
});

test('a token that expires is renewed before the next request', async () => {
  const { server, issued } = await startTokenServer(100, 5);
  const { code } = await run(server, LOGIN, '--credential', `Login=me:${SECRET}`);
  expect(code).toBe(0);
  const calls = server.received.filter(
    ({ path, headers }) => path !== '/token' && issued.some((token) => headers.authorization?.includes(token)),
  );
  expect(issued.length).toBe(calls.length);
});

test.each([
  ['a client that the token endpoint refuses', 'Login=me:wrong', /token endpoint .*\/token of Login returned 400 without a token/],
  ['a scheme that the document does not have', 'Logon=x', /no security scheme Logon\. It has Header, /],
  ['an argument without a value', 'Login', /--credential needs a name and a value/],
])('%s is an error that names what to change', async (_, given, message) => {
  const { server } = await startTokenServer(100, 3_600);
  const { code, output } = await run(server, LOGIN, '--credential', given);
  expect(code).toBe(2);
  expect(output).toMatch(message);
  expect(server.received.every(({ path }) => path === '/token')).toBe(true);
});

test.each(['id.example', 'localhost.example', '127.0.0.1.example'])(
  'the secret of a client is not sent to %s without TLS',
  async (host) => {
    const { server } = await startTokenServer(100, 3_600);
    const file = join(await temporaryFolder(), 'api.json');
    await writeFile(file, JSON.stringify(documentWith(LOGIN)).replace('"/token"', `"http://${host}/token"`));
    const { code, output } = await command(['--target', server.url.href, '--document', file, '--credential', `Login=me:${SECRET}`], {});
    expect(code).toBe(2);
    expect(output).toContain("does not use https, so the client's secret is not sent to it");
  },
);

test('a configuration file has credentials by scheme, with values from the environment', async () => {
  const { server } = await startTokenServer(100, 3_600);
  const folder = await temporaryFolder();
  await writeFile(join(folder, 'api.json'), JSON.stringify(documentWith(LOGIN)));
  const lines = [`target: ${server.url.href}`, `document: ${join(folder, 'api.json')}`, "credential: { Login: 'me:${CLIENT_SECRET}' }"];
  await writeFile(join(folder, 'contract.yaml'), lines.join('\n'));
  const { output } = await command(['--config', join(folder, 'contract.yaml')], { CLIENT_SECRET: SECRET });
  expect(output).toContain('2 of 2 operations verified');
});

test('two keys for one call are sent from options and the environment, and the curl line of a finding reads one variable for each', async () => {
  const server = await startServer(({ headers, query }, response) => {
    const isKnown = headers.cookie === 'session=first-secret-value' && query.get('key') === 'second-secret-value';
    sendJson(response, isKnown ? 200 : 401, {});
  });
  const file = join(await temporaryFolder(), 'api.json');
  await writeFile(file, JSON.stringify(documentWith([{ Cookie: [], Query: [] }])));
  const common = ['--target', server.url.href, '--document', file, '--only', 'listUsers'];
  const none = await command(common, { CONTRACT_API_KEY: 'first-secret-value' });
  expect(none.output).toContain('it needs Cookie and Query; give each with --credential Cookie=KEY --credential Query=KEY');
  expect(server.received).toEqual([]);
  const { code, output } = await command([...common, '--credential', 'Cookie=first-secret-value'], {
    CONTRACT_API_KEY_QUERY: 'second-secret-value',
  });
  expect(output).toContain('the body must be a list');
  expect(output).toContain('--url-query "key=$CONTRACT_API_KEY_QUERY" -b "session=$CONTRACT_API_KEY_COOKIE"');
  expect(output).not.toMatch(/(first|second)-secret-value/);
  expect(code).toBe(1);
});
