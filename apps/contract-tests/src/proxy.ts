import { createServer } from 'node:http';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';

import { basePath } from '@reseller/contract/engine';
import type { Recorder } from '@reseller/contract/engine';

export interface ProxyOptions {
  readonly target: URL;
  /** 0 chooses a free port. */
  readonly port: number;
  readonly recorder: Recorder;
  /** Called with the status and the operation of each exchange. */
  readonly onExchange: (line: string) => void;
}

export interface Proxy {
  readonly url: string;
  close(): Promise<void>;
}

/** Hop-by-hop headers, which a proxy does not forward, and the encoding, so that the proxy can read bodies. */
const OWN: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'host',
  'accept-encoding',
  'content-length',
  'expect',
]);

/**
 * Starts a proxy that forwards requests and responses unchanged and records them.
 * @throws Error when the port is in use
 */
export async function startProxy(options: ProxyOptions): Promise<Proxy> {
  const server = createServer((request, response) => void pass(options, request, response));
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(options.port, '127.0.0.1', resolve));
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : options.port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeIdleConnections();
      }),
  };
}

async function pass({ target, recorder, onExchange }: ProxyOptions, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const method = request.method ?? 'GET';
  const url = `${target.origin}${basePath(target)}${request.url ?? '/'}`;
  const body = await buffer(request);
  const begun = performance.now();
  const at = new Date().toISOString();
  try {
    const requestHeaders = textHeaders(request.headers);
    const passed = Object.fromEntries(Object.entries(requestHeaders).filter(([name]) => !OWN.has(name)));
    const upstream = await fetch(url, {
      method,
      headers: { ...passed, 'accept-encoding': 'identity' },
      redirect: 'manual',
      ...(body.length > 0 ? { body } : {}),
    });
    const bytes = new Uint8Array(await upstream.arrayBuffer());
    const responseHeaders = Object.fromEntries(upstream.headers);
    const cookies = upstream.headers.getSetCookie();
    const outgoing = Object.fromEntries(Object.entries(responseHeaders).filter(([name]) => !OWN.has(name) && name !== 'content-encoding'));
    response.writeHead(upstream.status, {
      ...outgoing,
      ...(cookies.length > 0 ? { 'set-cookie': cookies } : {}),
      'content-length': bytes.length,
    });
    response.end(method === 'HEAD' ? undefined : bytes);
    const requestBody = body.length > 0 ? body.toString() : undefined;
    const exchange = recorder.take({
      method,
      url,
      requestHeaders,
      requestBody,
      at,
      status: upstream.status,
      responseHeaders,
      bytes,
      milliseconds: performance.now() - begun,
    });
    onExchange(`${upstream.status}  ${exchange === undefined ? `${method} (no operation of the document)` : exchange.operation.id}`);
  } catch (error) {
    response.writeHead(502, { 'content-type': 'text/plain' }).end('The target of the contract proxy does not respond.\n');
    const { cause } = error instanceof Error ? error : { cause: undefined };
    onExchange(`502  no response: ${cause instanceof Error ? cause.message : String(error)}`);
  }
}

function textHeaders(headers: IncomingHttpHeaders): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, Array.isArray(value) ? value.join(', ') : value]],
    ),
  );
}
