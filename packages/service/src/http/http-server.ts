/** What the servers of both APIs share: limits, security headers, methods, and answers to bytes that never become a request. */
import { ServerResponse, STATUS_CODES } from 'node:http';
import type { IncomingMessage, Server } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

import type { FastifyInstance, FastifyHttpOptions } from 'fastify';

import { MAX_HEADERS_LENGTH } from './protocol.ts';

/** Options of both servers. */
export const serverOptions = {
  exposeHeadRoutes: false,
  // Fastify's own defaults would keep a body that trickles in open for ever.
  requestTimeout: 10_000,
  http: {
    headersTimeout: 8_000,
    connectionsCheckingInterval: 1_000,
    maxHeaderSize: MAX_HEADERS_LENGTH,
    // Node refuses a request without Host by itself, without a body; protocol.ts refuses it with one.
    requireHostHeader: false,
  },
  // A domain name is up to 253 characters, percent-encoded three times that.
  routerOptions: { maxParamLength: 1_024 },
  // `answerConnections` does it.
  clientErrorHandler: () => {},
  // A request that arrives on an open connection while the service stops is still carried out.
  return503OnClosing: false,
} as const satisfies FastifyHttpOptions<Server>;

/** Headers of every answer of both APIs: answers hold secrets, and no browser may take them for anything but what they are. */
export const SECURITY_HEADERS = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' } as const;

/** Adds the security headers to every answer that a route or a hook sends. */
export function sendSecurityHeaders(app: FastifyInstance): void {
  app.addHook('onSend', (_request, reply, payload, done) => {
    for (const [name, value] of Object.entries(SECURITY_HEADERS)) if (!reply.hasHeader(name)) reply.header(name, value);
    done(null, payload);
  });
}

/** Gives the methods that a path takes, from the routes that are registered after this call. */
export function methodsByPath(app: FastifyInstance): (url: string) => readonly string[] {
  const routes: { readonly pattern: RegExp; readonly methods: readonly string[] }[] = [];
  app.addHook('onRoute', ({ url, method }) => {
    routes.push({ pattern: routePattern(url), methods: [method].flat() });
  });
  return (url) => {
    const path = decoded(url);
    return [...new Set(routes.filter(({ pattern }) => pattern.test(path)).flatMap(({ methods }) => methods))].toSorted();
  };
}

/** An answer to bytes that are not an HTTP request. */
export interface SocketAnswer {
  readonly status: number;
  readonly type: string;
  readonly body: string;
}

/** Milliseconds that input is still read after such an answer: closing at once would reset the connection before the answer is read. */
const LINGER_MS = 1_000;

/**
 * Has the application answer what Node hands to no route or answers by itself: CONNECT, an unknown Expect, and bytes that
 * are not an HTTP request.
 *
 * @param refuse Gives the answer to such bytes by the error of Node's parser.
 */
export function answerConnections(app: FastifyInstance, refuse: (error: NodeJS.ErrnoException) => SocketAnswer): void {
  const { server } = app;
  const newest = new WeakMap<Socket, { readonly request: IncomingMessage; readonly response: ServerResponse }>();
  const refused = new WeakSet<Socket>();
  server.on('request', (request, response) => void newest.set(request.socket, { request, response }));
  server.on('clientError', (error: NodeJS.ErrnoException, stream) => {
    const socket = socketOf(stream);
    if (refused.has(socket)) return;
    if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
    refused.add(socket);
    const end = (text: string): void => {
      socket.once('end', () => socket.destroy());
      setTimeout(() => socket.destroy(), LINGER_MS).unref();
      socket.end(text);
    };
    const { request, response } = newest.get(socket) ?? {};
    // The bytes follow a request that is still being carried out: its answer comes first.
    if (request?.complete && !response?.writableFinished) response?.once('finish', () => end(textOf(refuse(error))));
    // They are the body of a request that is answered already: a second answer would be taken for that of the next request.
    else if (request?.complete === false && response?.headersSent) end('');
    else end(textOf(refuse(error)));
  });
  server.on('connect', (request, stream) => {
    const socket = socketOf(stream);
    const response = new ServerResponse(request);
    response.shouldKeepAlive = false;
    response.assignSocket(socket);
    response.on('finish', () => socket.end());
    socket.on('error', () => socket.destroy());
    app.routing(request, response);
  });
  server.on('checkExpectation', (request, response) => app.routing(request, response));
}

function socketOf(stream: Duplex): Socket {
  if (stream instanceof Socket) return stream;
  throw new TypeError('A server without TLS has no other connections than sockets.');
}

function textOf({ status, type, body }: SocketAnswer): string {
  const headers = {
    'Content-Type': type,
    'Content-Length': String(Buffer.byteLength(body)),
    ...SECURITY_HEADERS,
    Connection: 'close',
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return [`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...lines, '', body].join('\r\n');
}

function routePattern(url: string): RegExp {
  const source = url
    .replaceAll(/[.+?^${}()|[\]\\]/g, String.raw`\$&`)
    .replaceAll(/:\w+/g, '[^/]+')
    .replaceAll('*', '.*');
  return new RegExp(`^${source}$`);
}

/** The path of a URL as the router compares it. */
function decoded(url: string): string {
  const [path = ''] = url.split('?');
  try {
    return decodeURI(path);
  } catch {
    return path;
  }
}
