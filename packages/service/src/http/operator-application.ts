import { fastify } from 'fastify';
import type { FastifyBaseLogger, FastifyInstance, FastifyRequest } from 'fastify';

import { MAX_BODY_BYTES } from '../generated/operator/facts.gen.ts';
import type { OperatorContext } from '../operator/operation.ts';
import { OperatorProblem, problemOf } from '../operator/problem.ts';
import { pathOf } from './log-entry.ts';
import { answerMetrics, answerProbes, observeRequests, quietLogging } from './observability.ts';
import type { Metrics } from './observability.ts';
import { operatorApi } from './operator/api.ts';
import { operatorAuthentication } from './operator/authenticate.ts';
import { operatorHandling, sendProblem } from './operator/handler.ts';
import { requestIdOf } from './request-id.ts';
import { pathPattern } from './path-pattern.ts';

/** What the provider's side of the service is made of. */
export interface OperatorParts extends OperatorContext {
  /** Allows everything; undefined for none, which leaves probes and metrics. */
  readonly operatorToken: string | undefined;
  readonly metrics: Metrics;
  readonly logger: FastifyBaseLogger;
}

const paths = operatorApi.map(({ operation }) => ({
  method: operation.method,
  pattern: pathPattern(operation.path),
}));

/** What is for the provider alone, on a port of its own; it is not listening yet. */
export function createOperatorApplication({ operatorToken, metrics, logger, ...context }: OperatorParts): FastifyInstance {
  const app = fastify({
    loggerInstance: logger,
    ...quietLogging,
    // What the service logs is by the clock of the machine; the identifier tells requests apart, not when they were.
    genReqId: () => requestIdOf(Date.now(), context.ports.random),
    bodyLimit: MAX_BODY_BYTES,
    exposeHeadRoutes: false,
    requestTimeout: 10_000,
    http: { headersTimeout: 8_000, connectionsCheckingInterval: 1_000 },
    routerOptions: { maxParamLength: 1_024 },
    frameworkErrors: (_error, _request, reply) => void sendProblem(reply, unreadable()),
    return503OnClosing: false,
  });
  app.decorateRequest('operatorCaller', null);
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  app.setNotFoundHandler((request, reply) => {
    const allowed = paths.filter(({ pattern }) => pattern.test(pathOf(request.url))).map(({ method }) => method);
    if (allowed.length > 0) reply.header('allow', allowed.join(', '));
    return sendProblem(reply, noRoute(request, allowed));
  });
  app.setErrorHandler((error, request, reply) => {
    const problem = httpProblem(error) ?? problemOf(error);
    if (problem.status === 500) request.log.error({ err: error, requestId: request.id }, 'request of the operator failed');
    return sendProblem(reply, problem);
  });
  observeRequests(app, metrics);
  answerProbes(app, context.store);
  answerMetrics(app, metrics);
  const routing = { ...context, authenticate: operatorAuthentication(context.store, operatorToken) };
  for (const api of operatorApi) {
    app.route({
      method: api.operation.method,
      url: api.operation.path.replaceAll(/\{(\w+)\}/g, ':$1'),
      ...operatorHandling(api, routing),
    });
  }
  return app;
}

function noRoute({ method }: FastifyRequest, allowed: readonly string[]): OperatorProblem {
  if (allowed.length === 0)
    return new OperatorProblem('not-found', 'There is no such path. Check it against the documentation; paths have no closing slash.');
  return new OperatorProblem('method-not-allowed', `This path does not take ${method}. Use ${allowed.join(' or ')}.`);
}

/** What went wrong before any operation was asked; undefined where that is not what happened. */
function httpProblem(error: unknown): OperatorProblem | undefined {
  switch (error instanceof Error && 'statusCode' in error ? error.statusCode : undefined) {
    case 413:
      return new OperatorProblem('payload-too-large', `The body is longer than ${MAX_BODY_BYTES} bytes. Send a shorter one.`);
    case 415:
      return new OperatorProblem('unsupported-media-type', 'The Content-Type of the body is not supported. Send it as application/json.');
    case 400:
    case 414:
      return unreadable();
    default:
      return undefined;
  }
}

function unreadable(): OperatorProblem {
  return new OperatorProblem(
    'malformed-request',
    'The request could not be read as HTTP. Percent-encode its path, and send well-formed headers and a correct Content-Length.',
  );
}
