/** Responses that arrive byte by byte, and responses that end within a character, over a socket. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { ServerResponse } from 'node:http';

import { afterEach, expect, test } from 'vitest';

import { createReseller } from '../src/index.ts';
import { envelope, VM } from './scripted-service.ts';

const data = { list: ['ä€😀.test'] };
const bytes = Buffer.from(JSON.stringify(envelope(data)));
/** Within the four bytes of the last character of the name. */
const MIDDLE = bytes.indexOf(Buffer.from('😀')) + 2;

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

/** A client of a server that responds like this. */
async function clientOf(respond: (response: ServerResponse) => Promise<void>) {
  const server = createServer((_, response) => void respond(response)).listen(0, '127.0.0.1');
  closers.push(() => {
    server.close();
    server.closeAllConnections();
  });
  await once(server, 'listening');
  const address = server.address();
  const baseUrl = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
  return createReseller({ apiKey: 'key', baseUrl, maxRetries: 0 });
}

async function trickle(response: ServerResponse, until: number): Promise<void> {
  for (const byte of bytes.subarray(0, until)) {
    response.write(Buffer.of(byte));
    await new Promise((resolve) => setImmediate(resolve));
  }
}

test('reads the whole of a body that arrives byte by byte, even if a character is split', async () => {
  for (const headers of [{ 'content-length': bytes.length }, {}]) {
    const reseller = await clientOf(async (response) => {
      response.writeHead(200, headers);
      await trickle(response, bytes.length);
      response.end();
    });
    expect(await reseller.domain.list()).toEqual(data.list);
  }
});

test.each([
  ['within a character', MIDDLE],
  ['before its last byte', bytes.length - 1],
  ['after its first byte', 1],
])('treats a body that ends %s as cut: a read throws, and the outcome of a purchase is unknown', async (_, until) => {
  for (const headers of [{ 'content-length': bytes.length }, {}]) {
    const reseller = await clientOf(async (response) => {
      response.writeHead(200, headers);
      await trickle(response, until);
      response.destroy();
    });
    const cut = { name: 'ResponseError', reason: 'cut', status: 200, attempts: 1 };
    await expect(reseller.domain.list()).rejects.toMatchObject(cut);
    await expect(reseller.vm.create(VM)).rejects.toMatchObject({ name: 'OutcomeUnknownError', uncertain: true, status: 200, cause: cut });
  }
});

test('aborts a body that never ends after the timeout, even if bytes still arrive', async () => {
  const reseller = await clientOf(async (response) => {
    response.writeHead(200);
    while (!response.destroyed) {
      response.write(' ');
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  });
  // Long enough for the headers to arrive on a busy machine.
  const timeoutMs = 1_000;
  const timedOut = { name: 'TimeoutError', status: 200 };
  await Promise.all([
    expect(reseller.domain.list({ timeoutMs })).rejects.toMatchObject(timedOut),
    expect(reseller.vm.create(VM, { timeoutMs })).rejects.toMatchObject({ name: 'OutcomeUnknownError', cause: timedOut }),
  ]);
});
