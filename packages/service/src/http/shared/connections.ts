import type { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

import type { FastifyInstance } from 'fastify';

import { SECURITY_HEADERS } from './browsers.ts';

// An import of its values would load the client of `fetch`, which takes a tenth of the start-up time.
const http = process.getBuiltinModule('node:http');

/** A response to bytes that are not an HTTP request. */
export interface RawResponse {
  readonly status: number;
  readonly type: string;
  readonly body: string;
}

/** How long input is read after such a response. Closing immediately would reset the connection before the client has read the response. */
const LINGER_MS = 1_000;

/**
 * Responds to input that Node does not pass to a route: CONNECT, an unknown Expect, and bytes that are not an HTTP request.
 *
 * @param rawResponse The response to an error of Node's parser.
 */
export function handleConnections(app: FastifyInstance, rawResponse: (error: NodeJS.ErrnoException) => RawResponse): void {
  const { server } = app;
  const newest = new WeakMap<Socket, { readonly request: IncomingMessage; readonly response: ServerResponse }>();
  const refused = new WeakSet<Socket>();
  server.on('request', (request, response) => void newest.set(request.socket, { request, response }));
  server.on('clientError', (error: NodeJS.ErrnoException, stream) => {
    const socket = socketOf(stream);
    if (refused.has(socket)) return;
    if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
    refused.add(socket);
    function sendLast(text: string): void {
      socket.once('end', () => socket.destroy());
      setTimeout(() => socket.destroy(), LINGER_MS).unref();
      socket.end(text);
    }
    const { request, response } = newest.get(socket) ?? {};
    // The bytes follow a request that is still running. Its response comes first.
    if (request?.complete && !response?.writableFinished) response?.once('finish', () => sendLast(responseTextOf(rawResponse(error))));
    // The bytes belong to the body of a request that already has a response. A client would take a second response for that of its next
    // request.
    else if (request?.complete === false && response?.headersSent) sendLast('');
    else sendLast(responseTextOf(rawResponse(error)));
  });
  server.on('connect', (request, stream) => {
    const socket = socketOf(stream);
    const response = new http.ServerResponse(request);
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
  throw new TypeError('A server without TLS must have plain sockets.');
}

function responseTextOf({ status, type, body }: RawResponse): string {
  const headers = {
    'Content-Type': type,
    'Content-Length': String(Buffer.byteLength(body)),
    ...SECURITY_HEADERS,
    Connection: 'close',
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return [`HTTP/1.1 ${status} ${http.STATUS_CODES[status]}`, ...lines, '', body].join('\r\n');
}
