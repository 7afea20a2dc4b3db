import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';

import { fastify, LogController } from 'fastify';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { v7 as uuidv7 } from 'uuid';

import { queuesOf } from '../../core/queues.ts';
import type { Random } from '../../rules/random.ts';
import { missingSettings } from '../../store/missing-settings.ts';
import { partsInTurns } from '../../store/turns.ts';
import { boundedReads } from './bounded-reads.ts';
import { createHostCheck, SECURITY_HEADERS, sendSecurityHeaders } from './browsers.ts';
import type { HostCheck } from './browsers.ts';
import { handleConnections } from './connections.ts';
import type { RawResponse } from './connections.ts';
import type { HttpContext } from './context.ts';
import { observeRequests, serveProbes, withoutChildren } from './observability.ts';
import { fastifyFault, MAX_HEADERS_LENGTH, parserFault, protocolFault, routeFault } from './protocol.ts';
import type { AcceptedBody, RequestFault } from './protocol.ts';

/** The parts in which the servers of the two APIs differ. */
export interface ServerOptions {
  readonly body: AcceptedBody;
  newRequestId(): string;
  /** Turns the bytes of a body into the body of the request. */
  parseBody(request: FastifyRequest, bytes: Buffer): unknown;
  /** Sends the response to a failed request. Must not reject. */
  sendFailure(error: unknown, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply>;
  /** The response to bytes that are not an HTTP request. */
  rawResponse(fault: RequestFault): RawResponse;
  /** Whether a request that asks for another protocol gets it. Default: it gets a response of HTTP. */
  upgrades?(request: IncomingMessage): boolean;
}

/** Creates the server of an API: limits, security headers, probes, and the responses to requests without a route. */
export function createServer(
  context: HttpContext,
  { body, newRequestId, parseBody, sendFailure, rawResponse, upgrades = () => false }: ServerOptions,
): FastifyInstance {
  const { logger, simulated, isStopping, trustedProxies, runtime } = context;
  const app = fastify({
    loggerInstance: withoutChildren(logger),
    // `observeRequests` logs one line for each request instead of two.
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: newRequestId,
    bodyLimit: body.maxBytes,
    exposeHeadRoutes: false,
    trustProxy: trustedProxies.length > 0 && [...trustedProxies],
    // By default, Fastify waits for a slow body without a limit.
    requestTimeout: 10_000,
    http: {
      headersTimeout: 8_000,
      connectionsCheckingInterval: 1_000,
      maxHeaderSize: MAX_HEADERS_LENGTH,
      // Node would refuse a request without Host with an empty response. protocol.ts refuses it with a message.
      requireHostHeader: false,
      shouldUpgradeCallback: upgrades,
    },
    // A domain name has up to 253 characters, which is three times as long percent-encoded.
    routerOptions: { maxParamLength: 1_024 },
    // `handleConnections` responds.
    clientErrorHandler: () => {},
    // A request that arrives on an open connection during shutdown is still carried out.
    return503OnClosing: false,
    // Handles a path that the router cannot read. Fastify runs no hooks for such a request.
    frameworkErrors: (error, request, reply) => {
      reply.headers(SECURITY_HEADERS);
      void sendFailure(protocolFault(request.raw) ?? fastifyFault(error, body) ?? error, request, reply);
    },
  });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(body.type, { parseAs: 'buffer' }, async (request: FastifyRequest, bytes: Buffer) => parseBody(request, bytes));
  sendSecurityHeaders(app);
  handleConnections(app, (error) => rawResponse(parserFault(error)));
  refuseFaults(app, createHostCheck(runtime, context));
  app.setErrorHandler((error, request, reply) => sendFailure(fastifyFault(error, body) ?? error, request, reply));
  // Handles requests for which a route finds nothing, such as the route for the files of the documentation.
  app.setNotFoundHandler((request, reply) => sendFailure(routeFault(request.method, []), request, reply));
  closeConnectionsWhen(isStopping, app);
  observeRequests(app, context);
  const queues = boundedReads(() => queuesOf(runtime), runtime.store.tuning.queueFiguresMs);
  serveProbes(app, {
    instance: runtime.instance,
    simulated,
    isStopping,
    heldUpQueues: async () => (await queues())?.filter(({ isHeldUp }) => isHeldUp).map(({ queue }) => queue) ?? [],
    missingSettings: () => runtime.store.read((db) => missingSettings(db, runtime.mode), { isUrgent: true }),
  });
  return app;
}

/** The route of a path in the document: `/vm/{vmid}` becomes `/vm/:vmid`. */
export function routeUrl(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ':$1');
}

/** Sends a text. One of many chunks leaves chunk by chunk, in turns with other work. */
export function sendText(reply: FastifyReply, text: string | readonly string[]): FastifyReply {
  const chunks = typeof text === 'string' ? [text] : text;
  return reply.send(chunks.length === 1 ? chunks[0] : Readable.from(partsInTurns(chunks)));
}

/** Base URL at which the server listens. */
export function listeningUrl(app: FastifyInstance): string {
  // Requests can also be injected into a server that does not listen.
  if (app.addresses().length === 0) return 'http://localhost';
  // 0.0.0.0 and [::] mean every address of the machine. Clients connect to the loopback address instead.
  return app.listeningOrigin.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:');
}

/** Refuses requests that break a rule of HTTP or have no route. Covers the routes that are added after this call. */
function refuseFaults(app: FastifyInstance, checkHost: HostCheck): void {
  const allowedMethods = collectMethods(app);
  app.addHook('onRequest', (request, reply, done) => {
    const fault = protocolFault(request.raw) ?? checkHost(request.headers.host);
    if (fault || !request.is404) return done(fault);
    const allowed = allowedMethods(request.url);
    if (allowed.length > 0 || request.method === 'CONNECT') reply.header('allow', allowed.join(', '));
    done(routeFault(request.method, allowed));
  });
}

/** Closes connections during a stop, so that clients send their next request on another connection, to another instance if there is one. */
function closeConnectionsWhen(isStopping: () => boolean, app: FastifyInstance): void {
  app.addHook('onSend', (_request, reply, payload, done) => {
    if (isStopping()) reply.header('connection', 'close');
    done(null, payload);
  });
}

/** Returns the methods that a path takes, from the routes that are added after this call. */
function collectMethods(app: FastifyInstance): (url: string) => readonly string[] {
  // Most routes never need their pattern, and a server starts faster without compiling it.
  const routes: { readonly url: string; readonly methods: readonly string[]; pattern?: RegExp }[] = [];
  app.addHook('onRoute', ({ url, method }) => {
    routes.push({ url, methods: [method].flat() });
  });
  return (url) => {
    const path = decodedPathOf(url);
    const matching = routes.filter((route) => (route.pattern ??= routePattern(route.url)).test(path));
    return [...new Set(matching.flatMap(({ methods }) => methods))].toSorted();
  };
}

function routePattern(url: string): RegExp {
  const source = url
    .replaceAll(/[.+?^${}()|[\]\\]/g, String.raw`\$&`)
    .replaceAll(/:\w+/g, '[^/]+')
    .replaceAll('*', '.*');
  return new RegExp(`^${source}$`);
}

/** The path of a URL, decoded as the router does it. */
function decodedPathOf(url: string): string {
  const [path = ''] = url.split('?');
  try {
    return decodeURI(path);
  } catch {
    return path;
  }
}

/** @param now Milliseconds. */
export function requestIdAt(now: number, random: Random): string {
  return uuidv7({ msecs: now, random: random.bytes(16) });
}
