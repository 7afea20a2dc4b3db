import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';

import { onTestFinished } from 'vitest';

/** A received request. */
export interface ReceivedRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export interface RawServer {
  readonly url: URL;
  readonly received: readonly ReceivedRequest[];
}

/** Starts a server on a free port of this machine. It stops at the end of the test. */
export async function startServer(reply: (request: ReceivedRequest, response: ServerResponse) => void): Promise<RawServer> {
  const received: ReceivedRequest[] = [];
  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? '/', 'http://server.invalid');
    const { method = '', headers } = request;
    const one = { method, path: url.pathname, query: url.searchParams, headers, body: await text(request) };
    received.push(one);
    reply(one, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(
    () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  );
  const address = server.address();
  return { url: new URL(`http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`), received };
}

/** Ends a response with JSON. */
export function sendJson(response: ServerResponse, status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): void {
  response
    .writeHead(status, { 'content-type': 'application/json', ...headers })
    .end(typeof body === 'string' ? body : JSON.stringify(body));
}
