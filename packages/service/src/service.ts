import type { FastifyBaseLogger, FastifyInstance } from 'fastify';

import { createApplication } from './http/application.ts';
import { undoLeftReservations } from './operations/reservation.ts';
import { operations } from './operations/table.ts';
import type { Ports } from './ports/ports.ts';
import type { Store } from './store/store.ts';

/** What a service is made of. */
export interface ServiceParts {
  readonly store: Store;
  readonly ports: Ports;
  /** Known to the service alone and not in the store: one-time codes are hashed with it. At least 32 characters. */
  readonly secret: string;
  /** Folder of the built documentation, served at /docs. */
  readonly docs?: string;
  /** Where the service logs to, in the manner of pino. */
  readonly logger: FastifyBaseLogger;
}

/**
 * The Reseller Infrastructure Service over a store. What an earlier process left half-done is undone first.
 * The application is ready to listen or to be injected into; closing it leaves the store open.
 */
export async function createService(parts: ServiceParts): Promise<FastifyInstance> {
  const { store, ports, secret, logger } = parts;
  if (secret.length < 32) throw new TypeError('The secret of the service must have at least 32 characters.');
  const undone = await undoLeftReservations({ store, ports, table: operations });
  if (undone > 0) logger.warn({ undone }, 'undid purchases that an earlier process left half-done');
  return createApplication({ store, ports, table: operations, secret, docs: parts.docs, logger });
}
