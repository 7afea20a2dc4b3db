/** Which service a run calls, and with which keys. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { sendJson, startServer } from './raw-server.ts';
import { command } from './run-command.ts';
import { temporaryFolder } from './workspace.ts';

async function fileWith(more: object): Promise<string> {
  const file = join(await temporaryFolder(), 'api.json');
  const responses = { 200: { description: 'Fine.', content: { 'application/json': { schema: { type: 'object' } } } } };
  const paths = { '/a': { get: { operationId: 'getA', responses } } };
  await writeFile(file, JSON.stringify({ openapi: '3.1.0', info: { title: 'A', version: '1' }, paths, ...more }));
  return file;
}

test.each([
  ['http://127.0.0.1:PORT/v1', {}],
  ['http://{host}:{port}/v1', { host: { default: '127.0.0.1' }, port: { default: 'PORT' } }],
])('a read-only run calls the first server of a document: %s', async (url, variables) => {
  const server = await startServer((_, response) => sendJson(response, 200, {}));
  const servers: object[] = JSON.parse(
    JSON.stringify([{ url, variables }, { url: 'http://other.invalid' }]).replaceAll('PORT', server.url.port),
  );
  const { code, output } = await command(['--document', await fileWith({ servers })], {});
  expect(output).toContain(`at ${server.url.href}v1`);
  expect(server.received.map(({ path }) => path)).toEqual(['/v1/a']);
  expect(code).toBe(0);
});

test.each<[string, object, readonly string[], string]>([
  ['without servers', {}, [], 'The document names no server with a whole address. Give the address of the service as --target'],
  ['with a relative server', { servers: [{ url: '/v1' }] }, [], 'The document names no server with a whole address.'],
  ['in full mode', { servers: [{ url: 'https://api.example.com' }] }, ['--mode', 'full', '--yes'], 'A run in full mode changes things'],
])('a document %s needs --target, and never goes to the sandbox', async (_, more, options, message) => {
  const sandbox = await startServer((__, response) => sendJson(response, 200, {}));
  const { code, output } = await command(['--document', await fileWith(more), ...options], { RESELLER_PORT: sandbox.url.port });
  expect(output).toContain(message);
  expect(code).toBe(2);
  expect(sandbox.received).toEqual([]);
});

test('two keys for one call are sent as headers that the user gives, and neither is shown', async () => {
  const server = await startServer(({ headers }, response) => {
    const isKnown = headers['x-api-key'] === 'first-secret-value' && headers['x-app-key'] === 'second-secret-value';
    sendJson(response, isKnown ? 200 : 401, {});
  });
  const schemes = Object.fromEntries(['api', 'app'].map((name) => [name, { type: 'apiKey', in: 'header', name: `X-${name}-Key` }]));
  const file = await fileWith({ security: [{ api: [], app: [] }], components: { securitySchemes: schemes } });
  const common = ['--target', server.url.href, '--document', file];
  const one = await command([...common, '--header', 'X-Api-Key: first-secret-value'], {});
  expect(one.output).toContain('it needs api and app');
  expect(server.received).toEqual([]);
  const both = await command([...common, '--header', 'X-Api-Key: first-secret-value', '--header', 'X-App-Key: second-secret-value'], {});
  expect(both.output).toMatch(/getA +GET \/a +200 +passed/);
  expect(both.output).not.toMatch(/(first|second)-secret-value/);
  expect(both.code).toBe(0);
});
