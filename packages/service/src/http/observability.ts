import { LogController } from 'fastify';
import type { FastifyInstance, FastifyRequest, FastifyServerOptions } from 'fastify';
import { collectDefaultMetrics, Counter, Histogram, Registry } from 'prom-client';

import { ClockError } from '../delivery/clock-check.ts';
import type { Instance } from '../delivery/instance.ts';
import { requestFacts } from './request-facts.ts';

/** Metrics for Prometheus. */
export interface Metrics {
  readonly registry: Registry;
  /** Duration of requests in seconds, by operation and status. */
  readonly requests: Histogram<'operation' | 'status'>;
}

/** @param sources Figures that are read when the metrics are. */
export function createMetrics({ lostLogLines }: { readonly lostLogLines: (() => number) | undefined }): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const requests = new Histogram({
    name: 'reseller_request_duration_seconds',
    help: 'Time from the arrival of a request until its response was sent.',
    labelNames: ['operation', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers: [registry],
  });
  if (lostLogLines) {
    const lost = new Counter({
      name: 'reseller_log_lines_lost_total',
      help: 'Lines of the log that were lost, because standard error was not read in time.',
      registers: [],
      collect() {
        this.reset();
        this.inc(lostLogLines());
      },
    });
    registry.registerMetric(lost);
  }
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

/** What decides whether the process is ready. */
export interface Readiness {
  readonly instance: Pick<Instance, 'assertReady'>;
  readonly isSimulated: boolean;
  isStopping(): boolean;
}

/**
 * `/healthz` succeeds while the process runs. `/readyz` succeeds while it can also write to its store, its clock is right, and it is not about
 * to stop. Neither needs a key. `/readyz` shows whether the infrastructure is simulated.
 */
export function serveProbes(app: FastifyInstance, { instance, isSimulated, isStopping }: Readiness): void {
  app.get('/healthz', async () => ({ status: 'ok' }));
  app.get('/readyz', async (request, reply) => {
    const unavailable = (reason: 'stopping' | 'clock' | 'store') => reply.code(503).send({ status: 'unavailable', reason });
    if (isStopping()) return unavailable('stopping');
    try {
      await instance.assertReady();
      return { status: 'ready', ...(isSimulated ? { infrastructure: 'simulated' } : {}) };
    } catch (error) {
      if (error instanceof ClockError) return unavailable('clock');
      request.log.error({ err: error }, 'the store cannot be written to');
      return unavailable('store');
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
