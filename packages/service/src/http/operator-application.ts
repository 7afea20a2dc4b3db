import { fastify } from 'fastify';
import type { FastifyBaseLogger, FastifyInstance } from 'fastify';

import type { Store } from '../store/store.ts';
import { answerMetrics, answerProbes, quietLogging } from './observability.ts';
import type { Metrics } from './observability.ts';

/** What the provider's side of the service is made of. */
export interface OperatorParts {
  readonly store: Store;
  readonly metrics: Metrics;
  readonly logger: FastifyBaseLogger;
}

/** What is for the provider alone, on a port of its own; it is not listening yet. */
export function createOperatorApplication({ store, metrics, logger }: OperatorParts): FastifyInstance {
  const app = fastify({ loggerInstance: logger, ...quietLogging, exposeHeadRoutes: false, requestTimeout: 10_000 });
  answerProbes(app, store);
  answerMetrics(app, metrics);
  return app;
}
