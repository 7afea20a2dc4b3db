import type { FastifyBaseLogger, FastifyInstance } from 'fastify';

import { createApplication } from './http/application.ts';
import { dueKinds } from './operations/due-kinds.ts';
import { runDueWork } from './operations/due-work.ts';
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

/** A service over a store. */
export interface Service {
  /** The reseller API, ready to listen or to be injected into. */
  readonly app: FastifyInstance;
  /**
   * Does all that has fallen due by the clock: period ends, set-ups, renewals, ends.
   *
   * @returns How many things were done.
   */
  runDueWork(): Promise<number>;
  /** Finishes what is under way. The store stays open. */
  close(): Promise<void>;
}

/**
 * The Reseller Infrastructure Service over a store. What an earlier process left half-done is undone first.
 *
 * @throws TypeError when the secret is too short.
 */
export async function createService(parts: ServiceParts): Promise<Service> {
  const { store, ports, secret, logger } = parts;
  if (secret.length < 32) throw new TypeError('The secret of the service must have at least 32 characters.');
  const undone = await undoLeftReservations({ store, ports, table: operations });
  if (undone > 0) logger.warn({ undone }, 'undid purchases that an earlier process left half-done');
  const app = await createApplication({ store, ports, table: operations, secret, docs: parts.docs, logger });
  return {
    app,
    runDueWork: () => runDueWork(store, ports, dueKinds),
    close: () => app.close(),
  };
}
