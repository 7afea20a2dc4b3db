/** Responses that arrive byte by byte or are truncated, over a socket. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { ServerResponse } from 'node:http';

import { afterEach, expect, test } from 'vitest';

import type { OpenApiDocument } from '../document/document.ts';
import { runContract } from './run.ts';

const schema = { type: 'object', required: ['name'], properties: { name: { const: 'ä€😀' } } };
const document: OpenApiDocument = {
  openapi: '3.1.0',
  info: { title: 'A', version: '1' },
  paths: {
    '/thing': { get: { operationId: 'getThing', responses: { 200: { description: 'It.', content: { 'application/json': { schema } } } } } },
    '/other': { get: { operationId: 'getOther', responses: { 200: { description: 'It.', content: { 'application/json': { schema } } } } } },
  },
};
const bytes = Buffer.from('{"name":"ä€😀"}');

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

/** Runs against a server whose first operation is correct and whose second has this response. */
async function run(respond: (response: ServerResponse) => Promise<void>, timeout = 20_000) {
  const server = createServer(({ url, method }, response) => {
    response.setHeader('content-type', 'application/json');
    if (method !== 'GET') response.writeHead(405).end();
    else if (url === '/other') void respond(response);
    else response.end(bytes);
  }).listen(0, '127.0.0.1');
  closers.push(() => {
    server.close();
    server.closeAllConnections();
  });
  await once(server, 'listening');
  const address = server.address();
  const target = new URL(`http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`);
  const { findings, coverage } = await runContract({ document, target, timeout });
  return { checks: new Set(findings.filter(({ verdict }) => verdict === 'violation').map(({ check }) => check)), coverage };
}

async function trickle(response: ServerResponse, until: number): Promise<void> {
  for (const byte of bytes.subarray(0, until)) {
    response.write(Buffer.of(byte));
    await new Promise((resolve) => setImmediate(resolve));
  }
}

test('judges a response that arrives byte by byte like any other', async () => {
  const { checks, coverage } = await run(async (response) => {
    await trickle(response, bytes.length);
    response.end();
  });
  expect([...checks]).toEqual([]);
  expect(coverage.map(({ operation, verified }) => [operation, verified])).toEqual([
    ['getThing', true],
    ['getOther', true],
  ]);
});

test.each([
  ['within a character', bytes.indexOf(Buffer.from('😀')) + 2],
  ['before its last byte', bytes.length - 1],
])('reports a response that ends %s, and nothing else about it', async (_, until) => {
  const { checks, coverage } = await run(async (response) => {
    response.setHeader('content-length', bytes.length);
    await trickle(response, until);
    response.destroy();
  });
  expect([...checks]).toEqual(['body-complete']);
  expect(coverage.map(({ operation, verdict }) => [operation, verdict])).toEqual([
    ['getThing', 'passed'],
    ['getOther', 'violation'],
  ]);
});

test('treats a response that never ends as no response', async () => {
  const { coverage } = await run(async (response) => {
    while (!response.destroyed) {
      response.write(' ');
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }, 2_000);
  expect(coverage.find(({ operation }) => operation === 'getOther')).toMatchObject({
    verified: false,
    reason: expect.stringContaining('there was no response'),
  });
});
