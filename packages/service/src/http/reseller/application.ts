import type { FastifyInstance } from 'fastify';

import { MAX_BODY_BYTES } from '../../generated/facts.gen.ts';
import { successEnvelope } from '../../reseller/codec.ts';
import { allowPages, isPreflight } from '../shared/browsers.ts';
import type { AllowedPages } from '../shared/browsers.ts';
import type { HttpContext } from '../shared/context.ts';
import { hiddenFromResellers, serveDocs } from '../shared/docs.ts';
import { serveOwnServers } from '../shared/own-servers.ts';
import { documentationAt, serveRoot } from '../shared/root.ts';
import { serveSecurityTxt } from '../shared/security-txt.ts';
import { requestIdAt, createServer, routeUrl } from '../shared/server.ts';
import { apiOperations, prepareChecks, specifiedOperations } from './api.ts';
import { failureSender, rawErrorResponse } from './failures.ts';
import { resellerRoute } from './handler.ts';
import { serveInvoiceDocuments } from './invoice-document.ts';
import { FormBody, readFormBody } from './request.ts';
import { serveDocument } from './served-document.ts';
import { isConsoleUpgrade, serveVmConsole } from './vm-console.ts';

const FORM_TYPE = 'application/x-www-form-urlencoded';

/** Creates the server of the reseller API. It does not listen yet. */
export async function createApplication(context: HttpContext): Promise<FastifyInstance> {
  const { runtime, docs } = context;
  const { clock, random } = runtime.ports;
  const sendFailure = failureSender(context);
  const consolePages: AllowedPages = {
    origin: () => (runtime.mode === 'sandbox' ? context.operatorUrl() : undefined),
    headers: 'x-service-apikey, content-type, idempotency-key',
  };
  const app = createServer(context, {
    body: { type: FORM_TYPE, maxBytes: MAX_BODY_BYTES },
    newRequestId: () => requestIdAt(clock.now(), random),
    parseBody({ routeOptions: { config } }, bytes) {
      return config.api && new FormBody(readFormBody(config.api.operation, bytes));
    },
    sendFailure: async (error, request, reply) =>
      isPreflight(request, consolePages) ? reply.code(204).send() : sendFailure(error, request, reply),
    rawResponse: rawErrorResponse,
    upgrades: (request) => context.runtime.hasExtension && isConsoleUpgrade(request),
  });
  app.decorateRequest('caller', null);
  allowPages(app, consolePages);
  const operations = context.runtime.hasExtension ? apiOperations : await specifiedOperations();
  // Runs after the server reports that it is ready, while it has few requests.
  app.addHook('onListen', async () => void setImmediate(() => prepareChecks(operations)));
  for (const api of operations) {
    app.route({ method: api.operation.method, url: routeUrl(api.operation.path), ...resellerRoute(api, context) });
  }
  serveInvoiceDocuments(app, runtime);
  if (context.runtime.hasExtension) await serveVmConsole(app, context);
  serveDocument(app, runtime);
  serveSecurityTxt(app, context, runtime);
  if (docs !== undefined) {
    const hidden = hiddenFromResellers(context);
    serveOwnServers(app, { ...runtime, ...context, hidden });
    await serveDocs(app, docs, { hidden, operatorUrl: () => (runtime.mode === 'sandbox' ? context.operatorUrl() : undefined) });
    serveRoot(
      app,
      () => documentationAt(`${runtime.publicUrl()}/docs/`, 'reseller'),
      (found, { id }) => successEnvelope(id, `The documentation is at ${found.documentation}.`, found),
    );
  }
  return app;
}
