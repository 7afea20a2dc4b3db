/** Another service: it has the operations of the specification, without quotes and, if wanted, without prices of VMs. */
import { createServer } from 'node:http';
import { buffer } from 'node:stream/consumers';

import { onTestFinished } from 'vitest';

/**
 * Starts a service that passes requests on to a sandbox. It ends with the test.
 *
 * @param time What its clock says, in milliseconds.
 * @returns its address
 */
export async function startPlainService(
  sandboxUrl: string,
  { hasPrices, time = Date.now() }: { readonly hasPrices: boolean; readonly time?: number },
): Promise<string> {
  const server = createServer(async (request, response) => {
    const path = request.url ?? '/';
    if (path.endsWith('/quote')) {
      const body = { status: 'error', requestID: null, type: 'not_found', message: 'There is no such path.', data: null };
      response.writeHead(404, { 'content-type': 'application/json' }).end(JSON.stringify(body));
      return;
    }
    const { host: _host, connection: _connection, 'content-length': _length, ...headers } = request.headers;
    const sent = await buffer(request);
    const received = await fetch(sandboxUrl + path, {
      method: request.method ?? 'GET',
      headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)])),
      ...(sent.length > 0 && { body: new Uint8Array(sent) }),
    });
    const text = await received.text();
    const shown = hasPrices ? text : text.replaceAll('"price_net"', '"price"');
    response.writeHead(received.status, { 'content-type': 'application/json', date: new Date(time).toUTCString() }).end(shown);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('The service has no port.');
  return `http://127.0.0.1:${address.port}`;
}
