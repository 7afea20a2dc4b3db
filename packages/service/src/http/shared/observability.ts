import type { FastifyBaseLogger, FastifyInstance, FastifyRequest } from 'fastify';

import { ClockError } from '../../delivery/clock-check.ts';
import type { Instance } from '../../delivery/instance.ts';
import type { QueueName } from '../../delivery/runtime.ts';
import type { SimulatedPort } from '../../ports/ports.ts';
import { maskPath } from '../../reseller/masking.ts';
import { maskKeys } from '../../rules/credentials.ts';
import type { MissingSetting } from '../../store/missing-settings.ts';
import { clientAddressOf } from './client-address.ts';
import type { HttpContext } from './context.ts';
import { failedAdapters } from './metrics.ts';
import type { Metrics } from './metrics.ts';

/** A logger that is its own child, because Fastify asks for a child for each request. */
export function withoutChildren(logger: FastifyBaseLogger): FastifyBaseLogger {
  const childless: FastifyBaseLogger = Object.create(logger, { child: { value: () => childless } });
  return childless;
}

/** Counts every response, and logs it if the level allows. Bodies, headers and queries are not logged. */
export function observeRequests(app: FastifyInstance, { metrics, logger }: Pick<HttpContext, 'metrics' | 'logger'>): void {
  app.addHook('onResponse', (request, reply, done) => {
    const { statusCode, elapsedTime } = reply;
    const system = failedAdapters.get(request);
    metrics.requests.observe(
      { operation: operationOf(request), status: String(statusCode), ...(system && { system }) },
      elapsedTime / 1000,
    );
    if (logger.isLevelEnabled('info')) {
      const milliseconds = Math.round(elapsedTime * 10) / 10;
      logger.info({ ...requestFacts(request), status: statusCode, milliseconds, account: request.caller?.accountId }, 'request');
    }
    done();
  });
}

/** Hypervisor, fleet, registrar and DNS. */
const PORT_COUNT = 4;

/** The conditions for the readiness of the process. */
export interface Readiness {
  readonly instance: Pick<Instance, 'assertReady'>;
  readonly simulated: readonly SimulatedPort[];
  /** Whether resellers have the extension; undefined in a sandbox. */
  readonly extension: 'on' | 'off' | undefined;
  isStopping(): boolean;
  /** The queues that are held up. Requests are served meanwhile. */
  heldUpQueues(): Promise<readonly QueueName[]>;
  /** Settings that a live service still needs. */
  missingSettings(): Promise<readonly MissingSetting[]>;
}

/**
 * `/healthz` succeeds while the process runs. `/readyz` succeeds while it can also write to its store, its clock is right, and it is not about
 * to stop. Neither needs a key. `/readyz` shows which infrastructure is simulated, whether a live service has the extension, which settings a live service lacks, and which queues are
 * held up. The service is then `degraded`, but still serves requests.
 */
export function serveProbes(
  app: FastifyInstance,
  { instance, simulated, extension, isStopping, heldUpQueues, missingSettings }: Readiness,
): void {
  app.get('/healthz', async () => ({ status: 'ok' }));
  app.get('/readyz', async (request, reply) => {
    function unavailable(reason: 'stopping' | 'clock' | 'store') {
      return reply.code(503).send({ status: 'unavailable', reason });
    }
    if (isStopping()) return unavailable('stopping');
    try {
      await instance.assertReady();
      const queues = await heldUpQueues();
      const health = queues.length > 0 ? { status: 'degraded', reason: 'held_up', queues } : { status: 'ready' };
      const missing = await missingSettings();
      return {
        ...health,
        ...simulatedFacts(simulated),
        ...(extension !== undefined && { extension }),
        ...(missing.length > 0 ? { missing_settings: missing } : {}),
      };
    } catch (error) {
      if (error instanceof ClockError) return unavailable('clock');
      request.log.error({ err: error }, 'the store cannot be written to');
      return unavailable('store');
    }
  });
}

function simulatedFacts(simulated: readonly SimulatedPort[]) {
  if (simulated.length === 0) return {};
  return simulated.length === PORT_COUNT ? { infrastructure: 'simulated' } : { simulated };
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

/** Longer paths are cut. */
const MAX_PATH_LENGTH = 300;

/** The members of each log line about a request. All lines of a request have its identifier, which customers report. */
export interface RequestLogFields {
  readonly requestId: string;
  readonly method: string;
  /** Without the query, and with secrets masked. */
  readonly path: string;
  readonly operation: string;
  readonly client: string;
  /** Identifiers of the trace and of the calling span (W3C Trace Context), if the request has a valid `traceparent`. */
  readonly trace_id?: string;
  readonly parent_span_id?: string;
}

/** Version, trace, span and flags. A later version may append parts. */
const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-[0-9a-f]{2}(?:$|-)/;
/** Longer headers are ignored. */
const MAX_TRACEPARENT_LENGTH = 256;

export function requestFacts(request: FastifyRequest): RequestLogFields {
  const { id, method, originalUrl } = request;
  const [path = ''] = originalUrl.split('?');
  const masked = maskKeys(maskPath(path));
  return {
    requestId: id,
    method,
    path: (request.caller?.maskKey(masked) ?? masked).slice(0, MAX_PATH_LENGTH),
    operation: operationOf(request),
    client: clientAddressOf(request),
    ...traceOf(request.headers['traceparent']),
  };
}

function traceOf(header: string | string[] | undefined): Pick<RequestLogFields, 'trace_id' | 'parent_span_id'> {
  if (typeof header !== 'string' || header.length > MAX_TRACEPARENT_LENGTH) return {};
  const [, trace, span] = TRACEPARENT.exec(header) ?? [];
  return trace === undefined || span === undefined ? {} : { trace_id: trace, parent_span_id: span };
}

/** The operation of a request, or `none` if it reached no operation. */
export function operationOf({ routeOptions: { config } }: FastifyRequest): string {
  const { api, operator } = config;
  // Operations of both APIs share some names.
  return api?.id ?? (operator ? `operator.${operator.id}` : 'none');
}
