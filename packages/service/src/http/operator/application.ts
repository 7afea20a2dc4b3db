import type { FastifyInstance } from 'fastify';

import { MAX_BODY_BYTES } from '../../generated/operator/facts.gen.ts';
import { OperatorProblem, problemBody, problemOf } from '../../operator/problem.ts';
import { allowPages, isPreflight } from '../shared/browsers.ts';
import type { AllowedPages } from '../shared/browsers.ts';
import type { HttpContext } from '../shared/context.ts';
import { serveDocs } from '../shared/docs.ts';
import { loggableError } from '../shared/loggable-error.ts';
import { countFailure } from '../shared/metrics.ts';
import { serveMetrics, requestFacts } from '../shared/observability.ts';
import { serveOwnServers } from '../shared/own-servers.ts';
import { RequestFault } from '../shared/protocol.ts';
import { documentationAt, serveRoot } from '../shared/root.ts';
import { serveSecurityTxt } from '../shared/security-txt.ts';
import { requestIdAt, createServer, listeningUrl, routeUrl } from '../shared/server.ts';
import { operatorApi } from './api.ts';
import { createOperatorAuthenticator } from './authenticate.ts';
import { serveConsole } from './console.ts';
import { operatorRoute, PROBLEM_TYPE, scopeGuard, sendProblem } from './handler.ts';

/** Creates the server of the operator API, probes and metrics. It does not listen yet. Resellers must not be able to reach it. */
export async function createOperatorApplication(context: HttpContext): Promise<FastifyInstance> {
  const { runtime, docs, metrics, operatorToken } = context;
  // Request IDs of this API use the clock of the machine, because the clock of a sandbox can be set back.
  function createId() {
    return requestIdAt(Date.now(), runtime.ports.random);
  }
  const documentation: AllowedPages = {
    origin: () => (runtime.mode === 'sandbox' ? new URL(runtime.publicUrl()).origin : undefined),
    headers: 'authorization, content-type',
  };
  const app = createServer(context, {
    body: { type: 'application/json', maxBytes: MAX_BODY_BYTES },
    newRequestId: createId,
    parseBody: (_request, bytes) => bytes,
    async sendFailure(error, request, reply) {
      if (isPreflight(request, documentation)) return reply.code(204).send();
      const problem = toProblem(error);
      countFailure(metrics, request, { api: 'operator', status: problem.status, error });
      const line = { ...requestFacts(request), err: loggableError(error) };
      if (problem.kind === 'internal-error') request.log.error(line, 'request of the operator failed');
      else if (problem.kind === 'unavailable')
        request.log.warn(line, 'request of the operator failed because the store or the infrastructure is unavailable');
      return sendProblem(reply, problem);
    },
    rawResponse(fault) {
      const problem = toProblem(fault);
      return { status: problem.status, type: PROBLEM_TYPE, body: problemBody(problem, createId()) };
    },
  });
  app.decorateRequest('operatorCaller', null);
  serveSecurityTxt(app, context, runtime);
  allowPages(app, documentation);
  if (context.console !== undefined)
    await serveConsole(app, context.console, () => (runtime.mode === 'sandbox' ? new URL(runtime.publicUrl()).origin : undefined));
  if (docs !== undefined) {
    // A live service does not show this documentation to resellers.
    const isOwn = runtime.mode === 'live';
    if (isOwn) {
      serveOwnServers(app, { ...runtime, ...context, hidden: [] });
      await serveDocs(app, docs, { hidden: [], operatorUrl: () => undefined });
    }
    serveRoot(
      app,
      () => documentationAt(`${isOwn ? listeningUrl(app) : runtime.publicUrl()}/docs/`, 'operator'),
      (found) => found,
    );
  }
  const authenticate = createOperatorAuthenticator(runtime.store, {
    token: operatorToken,
    clock: context.sandbox.clock.base,
    signInCodes: context.signInCodes,
    secrets: runtime,
    onFailure: (address) => context.failedAuthentications.note('operator', address),
  });
  serveMetrics(app, { metrics, assertOperator: scopeGuard(authenticate, 'read') });
  for (const api of operatorApi) {
    app.route({
      method: api.operation.method,
      url: routeUrl(api.operation.path),
      ...operatorRoute(api, context, authenticate),
    });
  }
  return app;
}

function toProblem(error: unknown): OperatorProblem {
  return error instanceof RequestFault ? new OperatorProblem(error.kind, error.message) : problemOf(error);
}
