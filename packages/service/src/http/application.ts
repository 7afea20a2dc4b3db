import fastifyStatic from '@fastify/static';
import { fastify } from 'fastify';
import type { FastifyBaseLogger, FastifyInstance } from 'fastify';
import { v7 as uuidv7 } from 'uuid';

import type { Undoing } from '../operations/reservation.ts';
import type { Random } from '../ports/random.ts';
import { apiOperations } from './api.ts';
import { answerFailures, answerNoHttp, answerUnreadablePath } from './failures.ts';
import { handlingOf } from './handler.ts';

/** What the application is made of. */
export interface ApplicationParts extends Undoing {
  /** Known to the service alone, not in the store. */
  readonly secret: string;
  /** Folder of the built documentation, served at /docs; undefined for none. */
  readonly docs: string | undefined;
  readonly logger: FastifyBaseLogger;
}

const BODY_LIMIT = 64 * 1024;

/** The reseller API as a Fastify application; it is not listening yet. */
export async function createApplication(parts: ApplicationParts): Promise<FastifyInstance> {
  const app = fastify({
    loggerInstance: parts.logger,
    genReqId: () => requestIdOf(parts.ports.clock.now(), parts.ports.random),
    bodyLimit: BODY_LIMIT,
    exposeHeadRoutes: false,
    // Fastify's own defaults would keep a body that trickles in open for ever.
    requestTimeout: 10_000,
    http: { headersTimeout: 8_000, connectionsCheckingInterval: 1_000 },
    // A domain name is up to 253 characters, percent-encoded three times that.
    routerOptions: { maxParamLength: 1_024 },
    frameworkErrors: (_error, request, reply) => void answerUnreadablePath(parts, request, reply),
    clientErrorHandler: answerNoHttp,
  });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  answerFailures(app, parts);
  for (const api of apiOperations) {
    app.route({ method: api.operation.method, url: api.operation.path.replaceAll(/\{(\w+)\}/g, ':$1'), ...handlingOf(api, parts) });
  }
  if (parts.docs !== undefined) await app.register(fastifyStatic, { root: parts.docs, prefix: '/docs', redirect: true });
  return app;
}

/** A UUID of version 7 from the service's own clock and random numbers. */
function requestIdOf(now: number, random: Random): string {
  return uuidv7({ msecs: now, random: random.bytes(16) });
}
