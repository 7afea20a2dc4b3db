/** Connections to the database that detect an outage. */
import { Socket } from 'node:net';

import { Pool } from 'pg';

import { StoreUnavailableError } from '../store.ts';
import { isTimeout, unavailableOr } from './errors.ts';
import { parserOf } from './pipeline.ts';

/** Connections of one instance that do work. One more waits for the disk. */
export const MAX_CONNECTIONS = 20;
const CONNECT_TIMEOUT_MS = 5_000;
/** The database cancels a statement after this time, even if it is waiting for a lock. */
const STATEMENT_TIMEOUT_MS = 10_000;
/** A connection without traffic counts as dead after this time. It is longer than the statement timeout, which a live database reports. */
const SOCKET_TIMEOUT_MS = 12_000;
/** An idle connection is closed after this time, well before the socket timeout. */
const IDLE_TIMEOUT_MS = 8_000;
/** The database ends an idle transaction after this time, so that an instance that hangs or is cut off releases its locks. */
const IDLE_TRANSACTION_TIMEOUT_MS = 10_000;
/** After a timeout, no queries are sent for this time. */
const BACKOFF_MS = 1_000;

/** Settings of the connections that do work. */
const SETTINGS = [
  // A commit does not wait for the disk while it holds locks. See `postgresCommit`.
  ['synchronous_commit', 'off'],
  // Otherwise the database plans a statement with a parameter in LIMIT each time it runs, which takes longer than running it.
  ['plan_cache_mode', 'force_generic_plan'],
] as const;

/** Connections for the work of the service. Each statement ends or fails within seconds. */
export function connectionsFor(url: string): Pool {
  return boundedPool(url, MAX_CONNECTIONS, SETTINGS.map(([name, value]) => `, set_config('${name}', '${value}', false)`).join(''));
}

/** A connection that waits for the disk at a commit, as the database is configured to. */
export function flushingConnectionFor(url: string): Pool {
  return boundedPool(url, 1);
}

/** @param more Further settings of each connection. */
function boundedPool(url: string, max: number, more = ''): Pool {
  return newPool({
    connectionString: url,
    max,
    idleTimeoutMillis: IDLE_TIMEOUT_MS,
    stream: () => {
      const socket = new Socket();
      // A network that drops all packets reports nothing to either side.
      return socket.setTimeout(SOCKET_TIMEOUT_MS, () =>
        socket.destroy(Object.assign(new Error('The database does not respond.'), { code: 'ETIMEDOUT' })),
      );
    },
    onConnect: async (client) => {
      // A connection that breaks also rejects its query. Without a listener the event would end the process.
      client.on('error', () => {});
      // Not as connection parameters, because some database proxies drop those.
      await client.query(
        `select set_config('statement_timeout', '${STATEMENT_TIMEOUT_MS}', false), set_config('idle_in_transaction_session_timeout', '${IDLE_TRANSACTION_TIMEOUT_MS}', false)${more}`,
      );
    },
  });
}

/** Connections for migrations, without a statement timeout. */
export function migrationConnectionsFor(url: string): Pool {
  return newPool({ connectionString: url, max: 2, onConnect: (client) => void client.on('error', () => {}) });
}

function newPool(settings: ConstructorParameters<typeof Pool>[0]): Pool {
  const pool = new Pool({
    ...settings,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    application_name: 'reseller-service',
    types: { getTypeParser: (oid) => parserOf(oid) },
  });
  // The pool replaces a broken idle connection. Without a listener the event would end the process.
  pool.on('error', () => {});
  return pool;
}

/** Runs work on the database and throws a StoreUnavailableError during outages. */
export type WithBackoff = <T>(work: () => Promise<T>) => Promise<T>;

/**
 * After a timeout, all work fails at once for a moment. So a caller that failed does not wait a second time for its rollback or log
 * entry, and callers do not pile up.
 */
export function backoff(): WithBackoff {
  let backoffUntil = 0;
  return async (work) => {
    if (performance.now() < backoffUntil) throw new StoreUnavailableError('The database did not respond a moment ago.');
    try {
      return await work();
    } catch (error) {
      if (isTimeout(error)) backoffUntil = performance.now() + BACKOFF_MS;
      throw unavailableOr(error);
    }
  };
}
