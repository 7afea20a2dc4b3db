import { fastify } from 'fastify';
import type { FastifyBaseLogger, FastifyInstance } from 'fastify';

import type { Runtime } from '../delivery/runtime.ts';
import { MAX_BODY_BYTES } from '../generated/facts.gen.ts';
import type { OperationTable } from '../reseller/operation.ts';
import type { Mode } from '../rules/credentials.ts';
import { apiOperations } from './api.ts';
import type { Authenticate } from './authenticate.ts';
import type { Controls } from './controls.ts';
import { serveDocs } from './docs.ts';
import type { Docs } from './docs.ts';
import { success } from './envelope.ts';
import { answerFailures, answerUnreadablePath, refuseBytes } from './failures.ts';
import { handlingOf } from './handler.ts';
import { answerConnections, sendSecurityHeaders, serverOptions } from './http-server.ts';
import type { VmIdentifiers } from '../core/vm/identifier.ts';
import { publicUrlFrom, serveInvoiceDocuments } from './invoice-document.ts';
import { beLenient, withoutClosingSlash } from './lenient/deviation.ts';
import { answerProbes, observeRequests, quietLogging } from './observability.ts';
import type { Metrics } from './observability.ts';
import { serveOwnServers } from './own-servers.ts';
import { rateLimiter } from './rate-limit.ts';
import type { CountRequest } from './rate-limit.ts';
import { requestIdOf } from './request-id.ts';
import { documentationAt, serveRoot } from './root.ts';

/** What the application is made of. */
export interface ServiceContext extends Runtime {
  readonly table: OperationTable;
  /** What new VMs are given identifiers from. */
  readonly vmIdentifiers: VmIdentifiers;
  /** Base URL at which callers reach the service; undefined for the address that it listens on. */
  readonly publicUrl: string | undefined;
  /** The built documentation, served at /docs; undefined for none. */
  readonly docs: Docs | undefined;
  readonly mode: Mode;
  /** Base URL of the operator API; undefined while it does not listen. */
  readonly operatorUrl: () => string | undefined;
  readonly authenticate: Authenticate;
  readonly controls: Controls;
  readonly metrics: Metrics;
  /** Whether the ports only simulate the infrastructure. */
  readonly isSimulated: boolean;
  readonly logger: FastifyBaseLogger;
  /** Whether what existing clients send beside the rules of the document is understood. */
  readonly lenient: boolean;
}

/** What its routes share. */
export interface ApplicationParts extends ServiceContext {
  readonly countRequest: CountRequest;
}

/** The reseller API as a Fastify application; it is not listening yet. */
export async function createApplication(given: ServiceContext): Promise<FastifyInstance> {
  const parts: ApplicationParts = { ...given, countRequest: rateLimiter(given.store.sharing.windows) };
  const app = fastify({
    loggerInstance: parts.logger,
    ...quietLogging,
    genReqId: () => requestIdOf(parts.ports.clock.now(), parts.ports.random),
    ...serverOptions,
    bodyLimit: MAX_BODY_BYTES,
    frameworkErrors: (error, request, reply) => void answerUnreadablePath(parts, error, request, reply),
    ...(parts.lenient ? { rewriteUrl: withoutClosingSlash } : {}),
  });
  app.decorateRequest('deviations', null);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  sendSecurityHeaders(app);
  answerConnections(app, refuseBytes);
  if (parts.lenient) beLenient(app);
  answerFailures(app, parts);
  letGoWhenClosing(app);
  observeRequests(app, parts.metrics);
  answerProbes(app, parts);
  for (const api of apiOperations) {
    app.route({ method: api.operation.method, url: api.operation.path.replaceAll(/\{(\w+)\}/g, ':$1'), ...handlingOf(api, parts) });
  }
  serveInvoiceDocuments(app, parts);
  if (parts.docs !== undefined) {
    serveOwnServers(app, parts);
    await serveDocs(app, parts.docs);
    serveRoot(
      app,
      () => documentationAt(`${publicUrlFrom(parts, app)}/docs/`, 'index'),
      (found, { id }) => success(id, `The documentation is at ${found.documentation}.`, found),
    );
  }
  return app;
}

/** A connection that stays open after its last answer would keep the service from stopping. */
function letGoWhenClosing(app: FastifyInstance): void {
  let closing = false;
  app.addHook('preClose', (done) => {
    closing = true;
    done();
  });
  app.addHook('onSend', (_request, reply, payload, done) => {
    if (closing) reply.header('connection', 'close');
    done(null, payload);
  });
}
