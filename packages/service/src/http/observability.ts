import { LogController } from 'fastify';
import type { FastifyInstance, FastifyRequest, FastifyServerOptions } from 'fastify';
import { collectDefaultMetrics, Histogram, Registry } from 'prom-client';

import type { Store } from '../store/store.ts';
import { requestFacts } from './request-facts.ts';

/** Metrics for Prometheus. */
export interface Metrics {
  readonly registry: Registry;
  /** Duration of requests in seconds, by operation and status. */
  readonly requests: Histogram<'operation' | 'status'>;
}

export function createMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const requests = new Histogram({
    name: 'reseller_request_duration_seconds',
    help: 'Time from the arrival of a request until its response was sent.',
    labelNames: ['operation', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers: [registry],
  });
  return { registry, requests };
}

/** Turns off Fastify's two log lines and its child logger per request. `observeRequests` logs one line instead. */
export const QUIET_LOGGING: Pick<FastifyServerOptions, 'logController' | 'childLoggerFactory'> = {
  logController: new LogController({ disableRequestLogging: true }),
  childLoggerFactory: (logger) => logger,
};

/** Logs and counts every response. Bodies, headers and queries are not logged. */
export function observeRequests(app: FastifyInstance, metrics: Metrics): void {
  app.addHook('onResponse', (request, reply, done) => {
    const facts = requestFacts(request);
    const { operation } = facts;
    const seconds = reply.elapsedTime / 1000;
    metrics.requests.observe({ operation, status: String(reply.statusCode) }, seconds);
    request.log.info(
      {
        ...facts,
        status: reply.statusCode,
        milliseconds: Math.round(reply.elapsedTime * 10) / 10,
        account: request.caller?.accountId,
      },
      'request',
    );
    done();
  });
}

/**
 * `/healthz` succeeds while the process runs, and `/readyz` while it can also reach its store. Neither needs a key. `/readyz` shows
 * whether the infrastructure is simulated.
 */
export function serveProbes(app: FastifyInstance, { store, isSimulated }: { readonly store: Store; readonly isSimulated: boolean }): void {
  app.get('/healthz', async () => ({ status: 'ok' }));
  app.get('/readyz', async (request, reply) => {
    try {
      await store.read((db) => db.selectFrom('accounts').select('id').limit(1).execute(), { isUrgent: true });
      return { status: 'ready', ...(isSimulated ? { infrastructure: 'simulated' } : {}) };
    } catch (error) {
      request.log.error({ err: error }, 'the store cannot be reached');
      return reply.code(503).send({ status: 'unavailable' });
    }
  });
}

/** `/metrics` for Prometheus. It reveals figures of the business, so it needs the operator token. */
export function serveMetrics(
  app: FastifyInstance,
  { metrics, assertOperator }: { readonly metrics: Metrics; assertOperator(request: FastifyRequest): Promise<void> },
): void {
  const { registry } = metrics;
  app.get('/metrics', { onRequest: assertOperator }, async (_request, reply) =>
    reply.type(registry.contentType).send(await registry.metrics()),
  );
}
