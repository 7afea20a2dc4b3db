/** The configuration for another API: headers, values, a file, and hooks. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { sendJson, startServer } from './raw-server.ts';
import type { RawServer } from './raw-server.ts';
import { command } from './run-command.ts';
import { temporaryFolder } from './workspace.ts';

const DOCUMENT = {
  openapi: '3.1.0',
  info: { title: 'Tenants', version: '1' },
  paths: {
    '/tenants/{tenant}/users': {
      get: {
        operationId: 'listUsers',
        parameters: [
          { name: 'tenant', in: 'path', required: true, schema: { type: 'string' } },
          { name: 'X-Trace', in: 'header', required: true, schema: { type: 'string', pattern: '^(?=.*z)(?=.*[0-9])(?=.{20})[a-z0-9-]+$' } },
          { name: 'region', in: 'query', schema: { type: 'string' } },
        ],
        responses: {
          200: { description: 'Users.', content: { 'application/json': { schema: { type: 'array' } } } },
          404: { description: 'None.' },
        },
      },
    },
  },
};
const TRACE = 'abcdefghij-klmnop-9z';
const KEY = 'a-key-of-the-gateway';

async function start(): Promise<{ readonly server: RawServer; readonly folder: string; readonly argv: readonly string[] }> {
  const folder = await temporaryFolder();
  const server = await startServer(({ path, method }, response) => {
    const status = method !== 'GET' ? 405 : path === '/tenants/acme/users' ? 200 : 404;
    sendJson(response, status, status === 200 ? [] : {});
  });
  await writeFile(join(folder, 'api.json'), JSON.stringify(DOCUMENT));
  return { server, folder, argv: ['--target', server.url.href, '--document', join(folder, 'api.json')] };
}

test('headers and values of the command line are in every request, and secret ones in no output', async () => {
  const { server, argv, folder } = await start();
  const values = ['--value', 'tenant=acme', '--value', 'region=eu', '--header', `X-Trace: ${TRACE}`, '--header', `X-Api-Key: ${KEY}`];
  const { output, code } = await command([...argv, ...values, '--report', join(folder, 'reports')], {});
  expect({ code, output }).toMatchObject({ output: expect.stringContaining('1 of 1 operations verified') });
  const [first] = server.received;
  expect(first).toMatchObject({ path: '/tenants/acme/users', headers: { 'x-trace': TRACE, 'x-api-key': KEY } });
  expect(first?.query.get('region')).toBe('eu');
  expect(server.received.every(({ headers }) => headers['x-api-key'] === KEY)).toBe(true);
  expect(output).not.toContain(KEY);
});

test('without a value that the document does not have, the command says how to give it', async () => {
  const { argv } = await start();
  const { output } = await command(argv, {});
  expect(output).toContain('give a value with --value X-Trace=VALUE');
});

test('a configuration file has the options by their names, with values from the environment; the command line has precedence', async () => {
  const { server, folder } = await start();
  const config = join(folder, 'contract.yaml');
  const lines = [
    'target: http://127.0.0.1:9',
    `document: ${join(folder, 'api.json')}`,
    'value: { tenant: acme }',
    "header: { X-Trace: '${TRACE}' }",
  ];
  await writeFile(config, lines.join('\n'));
  const { output } = await command(['--config', config, '--target', server.url.href], { TRACE });
  expect(output).toContain('1 of 1 operations verified');
  expect(await command(['--config', config], {})).toMatchObject({
    code: 2,
    output: `The configuration ${config} needs the environment variable TRACE, which is not set.`,
  });
});

test.each([
  ['target: [', /is not YAML/],
  ['- target', /must have options by their names/],
  ['colour: red', /The option --colour is unknown/],
  ['target: { a: { b: 1 } }', /target in the configuration .* must be a text/],
])('a configuration file with %j is refused', async (text, message) => {
  const config = join(await temporaryFolder(), 'contract.yaml');
  await writeFile(config, text);
  const { code, output } = await command(['--config', config], {});
  expect(code).toBe(2);
  expect(output).toMatch(message);
});

test('hooks change requests, see responses and add checks', async () => {
  const { server, argv, folder } = await start();
  const hooks = join(folder, 'hooks.mjs');
  await writeFile(
    hooks,
    `export function beforeRequest(request) { request.headers.set('x-signature', 'signed'); return request; }
     export function afterResponse(response) { globalThis.contractHookStatuses = [...(globalThis.contractHookStatuses ?? []), response.status]; }
     export const checks = [{
       id: 'has-users', claim: 'There are users.', judges: 'Counts.', client: 'No users.', applies: () => true,
       checkResponse: ({ exchange }) => exchange.status !== 200 ? [] : [{ pointer: '', verdict: 'violation', message: 'there is no user',
         expected: 'a user', observed: 'none', at: exchange.operation.pointer, rule: 'users' }],
       
     }];`,
  );
  const values = ['--value', 'tenant=acme', '--header', `X-Trace: ${TRACE}`];
  const { code, output } = await command([...argv, ...values, '--hooks', hooks], {});
  expect({ code, output }).toMatchObject({ code: 1, output: expect.stringContaining('there is no user') });
  expect(server.received.every(({ headers }) => headers['x-signature'] === 'signed')).toBe(true);
  expect(Reflect.get(globalThis, 'contractHookStatuses')).toContain(200);
});

test.each([
  ["export function beforeRequest() { return new Request('http://127.0.0.1:9/elsewhere'); }", /another address or method/],
  ['export const other = 1;', /export none of beforeRequest, afterResponse, checks/],
  ['export const = 1;', /cannot be loaded/],
])('hooks %j are refused', async (text, message) => {
  const { argv, server, folder } = await start();
  const hooks = join(folder, 'hooks.mjs');
  await writeFile(hooks, text);
  const { code, output } = await command([...argv, '--value', 'tenant=acme', '--header', `X-Trace: ${TRACE}`, '--hooks', hooks], {});
  expect(code).toBe(2);
  expect(output).toMatch(message);
  expect(server.received).toEqual([]);
});
