/** A request that must not take effect twice is on the wire once, with the global `fetch` and over a socket. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';

import { expect, onTestFinished, test } from 'vitest';

import { createReseller, OutcomeUnknownError } from '../src/index.ts';
import { envelope, VM } from './scripted-service.ts';

const headersOf = ({ headers }: IncomingMessage) => [headers['content-length'], headers['transfer-encoding'], headers['content-type']];

test.each<[string, (reseller: ReturnType<typeof createReseller>) => Promise<unknown>, string, string]>([
  ['with a form', ({ vm }) => vm.create(VM), 'cores=1&mem=1024&disk=10&os=debian_12&hostsystem=nl_ryzen', '57'],
  ['without a form', ({ domain }) => domain.undelete('a.test'), '', '0'],
])('after a 421, which fetch repeats by itself, %s', async (_, call, body, length) => {
  const arrived: { readonly body: string; readonly headers: unknown }[] = [];
  const server = createServer(async (request, response) => {
    const sent = await text(request);
    if (request.method === 'GET') return void response.end(JSON.stringify(envelope([])));
    arrived.push({ body: sent, headers: headersOf(request) });
    response.writeHead(421, { 'retry-after': '7' }).end('misdirected');
  }).listen(0, '127.0.0.1');
  onTestFinished(() => (server.close(), server.closeAllConnections()));
  await once(server, 'listening');
  const address = server.address();
  const reseller = createReseller({ apiKey: 'key', baseUrl: `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}` });
  // Leaves a connection open, which the purchase uses.
  await reseller.vm.hosts();
  const error = await call(reseller).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(OutcomeUnknownError);
  expect(error).toMatchObject({ attempts: 1, status: 421, retryAfter: 7 });
  expect(arrived).toEqual([{ body, headers: [length, undefined, body === '' ? undefined : 'application/x-www-form-urlencoded'] }]);
});
