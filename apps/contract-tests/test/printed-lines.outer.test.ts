/** Every printed curl line, pasted into a shell, shows its finding again. */
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

import type { Report } from '@reseller/contract/engine';
import { expect, test } from 'vitest';

import { sendJson, startServer } from './raw-server.ts';
import { command } from './run-command.ts';
import { temporaryFolder } from './workspace.ts';

const run = promisify(execFile);
const KEYS = { CONTRACT_API_KEY_TOKEN: "to'ken-of-$the-test", CONTRACT_API_KEY_SESSION: 'session+of/the=test' };
const TEXT = { type: 'string' };
const responses = (schema: unknown): object => ({
  200: { description: 'Done.', content: { 'application/json': { schema } } },
  400: { description: 'Refused.' },
  401: { description: 'No key.' },
  415: { description: 'Another type.' },
  422: { description: 'Refused.' },
});
const query = (name: string, more: object): object => ({ name, in: 'query', schema: TEXT, ...more });

/** Each operation has a defect that shows only with the part of the request for which it is named. */
const paths = {
  '/header': {
    get: {
      operationId: 'byHeader',
      security: [{ token: [] }],
      parameters: [{ name: 'X-Fields', in: 'header', schema: { enum: ['a; b', "it's"] } }],
      responses: responses({}),
    },
  },
  '/cookie': {
    get: {
      operationId: 'byCookie',
      security: [{ session: [] }],
      parameters: [{ name: 'theme', in: 'cookie', schema: { enum: ['dark, "or" so'] } }],
      responses: responses({}),
    },
  },
  '/query': {
    get: {
      operationId: 'byQuery',
      security: [{ token: [], session: [] }],
      parameters: [query('filter', { style: 'deepObject', schema: { type: 'object', properties: { kind: { enum: ['a&b'] } } } })],
      responses: responses({}),
    },
  },
  '/range': {
    get: {
      operationId: 'byRange',
      security: [{ token: [] }],
      parameters: [{ name: 'Range', in: 'header', schema: TEXT, example: 'bytes=0-3' }],
      responses: responses({}),
    },
  },
  '/list': {
    post: {
      operationId: 'byList',
      security: [{ token: [] }],
      requestBody: {
        required: true,
        content: { 'application/json': { schema: { type: 'array', minItems: 1, items: { enum: ["it's"] } } } },
      },
      responses: responses({}),
    },
  },
  '/parts': {
    post: {
      operationId: 'byParts',
      security: [{ session: [] }],
      requestBody: {
        required: true,
        content: {
          'multipart/form-data': {
            schema: {
              type: 'object',
              required: ['file', 'meta'],
              properties: {
                file: { ...TEXT, format: 'binary' },
                meta: { type: 'object', required: ['a'], properties: { a: { enum: ['"; x'] } } },
              },
            },
            encoding: { file: { contentType: 'image/png' } },
          },
        },
      },
      responses: responses({}),
    },
  },
};

test('as it is, with the keys in the variables that it names', async () => {
  const { url } = await startServer(({ method, path, headers, query: sent, body }, response) => {
    const hasToken = headers.authorization === `Bearer ${KEYS.CONTRACT_API_KEY_TOKEN}`;
    const hasSession = decodeURIComponent(headers.cookie ?? '').includes(`sid=${KEYS.CONTRACT_API_KEY_SESSION}`);
    const needs = { '/cookie': hasSession, '/parts': hasSession, '/query': hasToken && hasSession }[path] ?? hasToken;
    if (!needs) return sendJson(response, 401, {});
    const shows: Readonly<Record<string, boolean>> = {
      '/header': headers['x-fields'] === 'a; b' || headers['x-fields'] === "it's",
      '/cookie': headers.cookie?.includes(`theme=${encodeURIComponent('dark, "or" so')}`) === true,
      '/query': sent.get('filter[kind]') === 'a&b',
      '/range': headers.range === 'bytes=0-3',
      '/list': method === 'POST' && body === '["it\'s"]',
      '/parts': body.includes('Content-Type: image/png') && body.includes(JSON.stringify({ a: '"; x' })),
    };
    sendJson(response, shows[path] === true ? 500 : method === 'POST' ? 422 : 200, {});
  });
  const folder = await temporaryFolder();
  const file = join(folder, 'api.json');
  const securitySchemes = { token: { type: 'http', scheme: 'bearer' }, session: { type: 'apiKey', in: 'cookie', name: 'sid' } };
  await writeFile(file, JSON.stringify({ openapi: '3.1.0', info: { title: 'A', version: '1' }, paths, components: { securitySchemes } }));
  const options = ['--mode', 'full', '--yes', '--also', 'byList', 'byParts', '--report', join(folder, 'reports')];
  await command(['--target', url.href, '--document', file, ...options], KEYS);
  const { findings }: Report = JSON.parse(await readFile(join(folder, 'reports', 'report.json'), 'utf8'));
  const touches = findings.filter(({ verdict }) => verdict !== 'unverified').flatMap((finding) => finding.touches);
  const named = Object.values(paths).flatMap((item) => Object.values(item).map(({ operationId }) => operationId));
  expect([...new Set(touches.map(({ operation }) => operation))].toSorted()).toEqual(named.toSorted());
  const repeated = await Promise.all(
    touches.map(async ({ curl, operation, status }) => {
      const { stdout } = await run('sh', ['-c', curl], { env: { ...process.env, ...KEYS } });
      return `${operation} ${/^HTTP\/1.1 (\d+)/.exec(stdout)?.[1]} of ${status}`;
    }),
  );
  expect(repeated.toSorted()).toEqual(touches.map(({ operation, status }) => `${operation} ${status} of ${status}`).toSorted());
});

test('and a service that is not available is one finding', async () => {
  let count = 0;
  const { url } = await startServer((_, response) => sendJson(response, ++count % 2 === 0 ? 503 : 200, {}));
  const file = join(await temporaryFolder(), 'api.json');
  const get = (id: string): object => ({
    get: {
      operationId: id,
      parameters: [query('q', { schema: { enum: ['a', 'b'] } })],
      responses: { 200: { description: 'Done.' }, 400: { description: 'Refused.' } },
    },
  });
  await writeFile(
    file,
    JSON.stringify({ openapi: '3.1.0', info: { title: 'A', version: '1' }, paths: { '/a': get('a'), '/b': get('b'), '/c': get('c') } }),
  );
  const { output } = await command(['--target', url.href, '--document', file, '--mode', 'full', '--yes'], {});
  expect(output.match(/^violation {2}the service fails with 503/gm)).toHaveLength(1);
});
