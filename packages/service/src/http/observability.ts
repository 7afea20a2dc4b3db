/** What whoever runs the service sees of it: one log line for each request, metrics, and two questions that probes ask. */
import { LogController } from 'fastify';
import type { FastifyInstance, FastifyRequest, FastifyServerOptions } from 'fastify';
import { collectDefaultMetrics, Histogram, Registry } from 'prom-client';

import type { Store } from '../store/store.ts';

/** The service's metrics, in the format of Prometheus. */
export interface Metrics {
  readonly registry: Registry;
  /** Seconds that requests took, by operation and status. */
  readonly requests: Histogram<'operation' | 'status'>;
}

export function createMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const requests = new Histogram({
    name: 'reseller_request_duration_seconds',
    help: 'Time from the arrival of a request until its answer was sent.',
    labelNames: ['operation', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers: [registry],
  });
  return { registry, requests };
}

/** Fastify's own two lines for each request and its logger for each request cost more than they tell. */
export const quietLogging: Pick<FastifyServerOptions, 'logController' | 'childLoggerFactory'> = {
  logController: new LogController({ disableRequestLogging: true }),
  childLoggerFactory: (logger) => logger,
};

/** Logs and counts every answer. Neither bodies nor headers are logged, and the path without its query. */
export function observeRequests(app: FastifyInstance, metrics: Metrics): void {
  app.addHook('onResponse', (request, reply, done) => {
    const operation = request.routeOptions.config.api?.id ?? operatorOperation(request) ?? 'none';
    const seconds = reply.elapsedTime / 1000;
    metrics.requests.observe({ operation, status: String(reply.statusCode) }, seconds);
    request.log.info(
      {
        requestId: request.id,
        operation,
        status: reply.statusCode,
        milliseconds: Math.round(reply.elapsedTime * 10) / 10,
        account: request.caller?.accountId,
      },
      'request',
    );
    done();
  });
}

/** Operations of the operator are named apart: some bear the names of reseller ones. */
function operatorOperation({ routeOptions }: FastifyRequest): string | undefined {
  const id = routeOptions.config.operator?.id;
  return id && `operator.${id}`;
}

/**
 * `/healthz`: the process answers. `/readyz`: it can also reach its store, and says so where its infrastructure is simulated. Neither
 * needs a key.
 */
export function answerProbes(app: FastifyInstance, { store, isSimulated }: { readonly store: Store; readonly isSimulated: boolean }): void {
  app.get('/healthz', async () => ({ status: 'ok' }));
  app.get('/readyz', async (request, reply) => {
    try {
      await store.read((db) => db.selectFrom('accounts').select('id').limit(1).execute());
      return { status: 'ready', ...(isSimulated ? { infrastructure: 'simulated' } : {}) };
    } catch (error) {
      request.log.error({ err: error }, 'the store cannot be reached');
      return reply.code(503).send({ status: 'unavailable' });
    }
  });
}

/** `/metrics`, for Prometheus: what it tells of the business is for the operator alone. */
export function answerMetrics(
  app: FastifyInstance,
  { metrics, assertOperator }: { readonly metrics: Metrics; assertOperator(request: FastifyRequest): Promise<void> },
): void {
  const { registry } = metrics;
  app.get('/metrics', { onRequest: assertOperator }, async (_request, reply) =>
    reply.type(registry.contentType).send(await registry.metrics()),
  );
}
