/** A page for a browser, from the same origin as the service. */
import { once } from 'node:events';
import { createServer, request as send } from 'node:http';
import type { Server } from 'node:http';

/** Serves a page with a script, and forwards all other requests to the service. */
export async function serveWith(script: string, service: string): Promise<{ origin: string; server: Server }> {
  const server = createServer((request, response) => {
    const { method, url = '/', headers } = request;
    if (url === '/page') response.setHeader('content-type', 'text/html').end('<!doctype html><title>A page</title>');
    else if (url === '/program.js') response.setHeader('content-type', 'text/javascript').end(script);
    else
      request.pipe(
        send(service + url, { method, headers }, (received) => {
          response.writeHead(received.statusCode ?? 502, received.headers);
          received.on('error', () => response.destroy()).pipe(response);
        }).on('error', () => response.destroy()),
      );
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return { origin: `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`, server };
}
