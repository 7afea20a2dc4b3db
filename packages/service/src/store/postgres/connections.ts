/** Connections to the database that detect an outage. */
import { Socket } from 'node:net';

import { Pool } from 'pg';
import type { ClientBase, PoolConfig } from 'pg';

import { StoreOpenError, StoreUnavailableError } from '../store.ts';
import { isTimeout, READ_ONLY, unavailableOr } from './errors.ts';
import { failoverPool } from './failover.ts';
import type { Connections } from './failover.ts';
import { readDatabaseUrl } from './hosts.ts';
import { parserOf } from './types.ts';

/** The timeout for all hosts together, which are tried one after another. */
const CONNECT_TIMEOUT_MS = 5_000;
const MIN_CONNECT_TIMEOUT_MS = 2_000;
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

/** At most `max` connections for the work of the service. Each statement ends or fails within seconds. */
export function connectionsFor(url: string, max: number): Connections {
  return connectionsTo(url, {
    max,
    idleTimeoutMillis: IDLE_TIMEOUT_MS,
    stream: () => {
      const socket = new Socket();
      // If a network drops all packets, neither side gets an error.
      return socket.setTimeout(SOCKET_TIMEOUT_MS, () =>
        socket.destroy(Object.assign(new Error('The database does not respond.'), { code: 'ETIMEDOUT' })),
      );
    },
    async onConnect(client) {
      await assertWritable(client);
      // These settings are not connection parameters, because some database proxies drop those. With its usual plan cache, the database plans
      // a statement with a parameter in LIMIT each time it runs, which takes longer than running it.
      await client.query(
        `select set_config('statement_timeout', '${STATEMENT_TIMEOUT_MS}', false),
          set_config('idle_in_transaction_session_timeout', '${IDLE_TRANSACTION_TIMEOUT_MS}', false),
          set_config('plan_cache_mode', 'force_generic_plan', false)`,
      );
    },
  });
}

/** Connections for migrations, without a statement timeout. */
export function migrationConnectionsFor(url: string): Connections {
  return connectionsTo(url, { max: 2, onConnect: assertWritable });
}

/** @param url It may name several hosts, one of which must accept writes. */
export function connectionsTo(url: string, settings: PoolConfig): Connections {
  const [first = url, ...others] = readDatabaseUrl(url)?.urls ?? [];
  const connectionTimeoutMillis = Math.max(CONNECT_TIMEOUT_MS / (others.length + 1), MIN_CONNECT_TIMEOUT_MS);
  function poolOf(connectionString: string) {
    return newPool({ ...settings, connectionString, connectionTimeoutMillis });
  }
  return failoverPool([poolOf(first), ...others.map(poolOf)]);
}

/** @throws An error with the code READ_ONLY if the session cannot write, such as on a standby. */
export async function assertWritable(client: ClientBase): Promise<void> {
  // A connection that breaks also rejects its query. Without a listener the event would end the process.
  client.on('error', () => {});
  const { rows } = await client.query<{ value: string }>(`select current_setting('transaction_read_only') as value`);
  if (rows[0]?.value === 'on') throw Object.assign(new Error('The session is read-only.'), { code: READ_ONLY });
}

/** The statements of other clients may hide once that connections share a session. */
const SESSION_CHECKS = 3;

/** @throws StoreOpenError if two connections share a session, or one changes its session: prepared statements and settings would get lost. */
export async function assertOwnSessions(connections: Connections): Promise<void> {
  const one = await connections.connect();
  try {
    const other = await connections.connect();
    try {
      const sessions: unknown[] = [];
      for (let check = 0; check < SESSION_CHECKS; check++) for (const client of [one, other]) sessions.push(await backendOf(client));
      if (new Set(sessions).size !== 2 || sessions.some((session, index) => session !== sessions[index % 2]))
        throw new StoreOpenError(POOLED);
    } finally {
      other.release();
    }
  } finally {
    one.release();
  }
}

const POOLED =
  'The database server of DATABASE_URL is a connection pooler that changes the server connection of a client. The service needs one for each of its connections: set pool_mode = session in PgBouncer, or name the database server itself in DATABASE_URL.';

async function backendOf(client: ClientBase): Promise<number | undefined> {
  const { rows } = await client.query<{ session: number }>('select pg_backend_pid() as session');
  return rows[0]?.session;
}

function newPool(settings: PoolConfig): Pool {
  const pool = new Pool({
    application_name: 'reseller-service',
    types: { getTypeParser: (oid) => parserOf(oid) },
    // Statements are sent without waiting for the results of earlier ones.
    pipeline: true,
    ...settings,
  });
  // The pool replaces a broken idle connection. Without a listener the event would end the process.
  pool.on('error', () => {});
  return pool;
}

/** Runs work on the database and throws a StoreUnavailableError during outages. */
export type WithBackoff = <T>(work: () => Promise<T>) => Promise<T>;

/**
 * After a timeout, all work fails immediately for BACKOFF_MS. So a failed caller does not wait again for its rollback or log entry, and
 * callers do not pile up.
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
