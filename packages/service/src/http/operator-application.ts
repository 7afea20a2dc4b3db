import { fastify } from 'fastify';
import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

import { MAX_BODY_BYTES } from '../generated/operator/facts.gen.ts';
import type { OperatorContext } from '../operator/operation.ts';
import { OperatorProblem, problemBody, problemOf } from '../operator/problem.ts';
import { answerConnections, methodsByPath, SECURITY_HEADERS, sendSecurityHeaders, serverOptions } from './http-server.ts';
import { loggableError } from './masking.ts';
import { answerMetrics, answerProbes, observeRequests, quietLogging } from './observability.ts';
import type { Metrics } from './observability.ts';
import { operatorApi } from './operator/api.ts';
import { operatorAuthentication } from './operator/authenticate.ts';
import { assertOperator, operatorHandling, PROBLEM_TYPE, sendProblem } from './operator/handler.ts';
import { MALFORMED, parserFault, protocolFault, URL_TOO_LONG } from './protocol.ts';
import type { ProtocolFault } from './protocol.ts';
import { requestIdOf } from './request-id.ts';
import { serveRoot } from './root.ts';
import type { Documentation } from './root.ts';

/** What the provider's side of the service is made of. */
export interface OperatorParts extends OperatorContext {
  /** Allows everything; undefined for none, which leaves probes and verifiers. */
  readonly operatorToken: string | undefined;
  readonly metrics: Metrics;
  /** Whether the ports only simulate the infrastructure. */
  readonly isSimulated: boolean;
  /** Where the operator's documentation is served, on the reseller API's port; undefined where it is not. */
  readonly documentation: (() => Documentation) | undefined;
  readonly logger: FastifyBaseLogger;
}

/** What is for the provider alone, on a port of its own; it is not listening yet. */
export function createOperatorApplication({
  operatorToken,
  metrics,
  isSimulated,
  documentation,
  logger,
  ...context
}: OperatorParts): FastifyInstance {
  const app = fastify({
    loggerInstance: logger,
    ...quietLogging,
    // What the service logs is by the clock of the machine; the identifier tells requests apart, not when they were.
    genReqId: () => requestIdOf(Date.now(), context.ports.random),
    ...serverOptions,
    bodyLimit: MAX_BODY_BYTES,
    frameworkErrors: (error, request, reply) => {
      reply.headers(SECURITY_HEADERS);
      sendProblem(reply, problemOfFault(protocolFault(request.raw) ?? (error.statusCode === 414 ? URL_TOO_LONG : MALFORMED)));
    },
  });
  const methodsOf = methodsByPath(app);
  sendSecurityHeaders(app);
  answerConnections(app, (error) => {
    const problem = problemOfFault(parserFault(error));
    return { status: problem.status, type: PROBLEM_TYPE, body: problemBody(problem, requestIdOf(Date.now(), context.ports.random)) };
  });
  app.decorateRequest('operatorCaller', null);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  app.addHook('onRequest', (request, reply, done) => {
    const fault = protocolFault(request.raw);
    if (fault) return done(problemOfFault(fault));
    if (request.is404) return done(noRoute(request, reply, methodsOf(request.url)));
    done();
  });
  app.setErrorHandler((error, request, reply) => {
    const problem = httpProblem(error) ?? problemOf(error);
    if (problem.status === 500) request.log.error({ err: loggableError(error), requestId: request.id }, 'request of the operator failed');
    return sendProblem(reply, problem);
  });
  observeRequests(app, metrics);
  answerProbes(app, { store: context.store, isSimulated });
  if (documentation !== undefined) serveRoot(app, documentation, (found) => found);
  const routing = { ...context, authenticate: operatorAuthentication(context.store, operatorToken) };
  answerMetrics(app, { metrics, assertOperator: (request) => assertOperator(routing, request) });
  for (const api of operatorApi) {
    app.route({
      method: api.operation.method,
      url: api.operation.path.replaceAll(/\{(\w+)\}/g, ':$1'),
      ...operatorHandling(api, routing),
    });
  }
  return app;
}

function noRoute({ method }: FastifyRequest, reply: FastifyReply, allowed: readonly string[]): OperatorProblem {
  if (allowed.length === 0 && method !== 'CONNECT')
    return new OperatorProblem('not-found', 'There is no such path. Check it against the documentation; paths have no closing slash.');
  reply.header('allow', allowed.join(', '));
  const advice = allowed.length === 0 ? 'Send the request to a path of the service.' : `Use ${allowed.join(' or ')}.`;
  return new OperatorProblem('method-not-allowed', `This path does not take ${method}. ${advice}`);
}

function problemOfFault({ kind, message }: ProtocolFault): OperatorProblem {
  return new OperatorProblem(kind, message);
}

/** What went wrong before any operation was asked; undefined where that is not what happened. */
function httpProblem(error: unknown): OperatorProblem | undefined {
  switch (error instanceof Error && 'statusCode' in error ? error.statusCode : undefined) {
    case 413:
      return new OperatorProblem('payload-too-large', `The body is longer than ${MAX_BODY_BYTES} bytes. Send a shorter one.`);
    case 415:
      return new OperatorProblem('unsupported-media-type', 'The Content-Type of the body is not supported. Send it as application/json.');
    case 400:
      return problemOfFault(MALFORMED);
    default:
      return undefined;
  }
}
