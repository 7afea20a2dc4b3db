/** Connections to the database that detect an outage. */
import { Socket } from 'node:net';

import { Pool, types } from 'pg';
import type { ClientBase, PoolConfig } from 'pg';

import { StoreUnavailableError } from '../store.ts';
import { isTimeout, READ_ONLY, unavailableOr } from './errors.ts';
import { failoverPool } from './failover.ts';
import type { Connections } from './failover.ts';
import { readDatabaseUrl } from './hosts.ts';

/** Connections of one instance. */
export const MAX_CONNECTIONS = 20;
/** Shared by the hosts, which are tried one after another. */
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
const INT8 = types.builtins.INT8;
/** The type of a sum of int8 values. */
const NUMERIC = types.builtins.NUMERIC;

/** Connections for the work of the service. Each statement ends or fails within seconds. */
export function connectionsFor(url: string): Connections {
  return connectionsTo(url, {
    max: MAX_CONNECTIONS,
    idleTimeoutMillis: IDLE_TIMEOUT_MS,
    stream: () => {
      const socket = new Socket();
      // A network that drops all packets reports nothing to either side.
      return socket.setTimeout(SOCKET_TIMEOUT_MS, () =>
        socket.destroy(Object.assign(new Error('The database does not respond.'), { code: 'ETIMEDOUT' })),
      );
    },
    async onConnect(client) {
      await assertWritable(client);
      // Not as connection parameters, because some database proxies drop those.
      await client.query(
        `select set_config('statement_timeout', '${STATEMENT_TIMEOUT_MS}', false), set_config('idle_in_transaction_session_timeout', '${IDLE_TRANSACTION_TIMEOUT_MS}', false)`,
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
  const poolOf = (connectionString: string) => newPool({ ...settings, connectionString, connectionTimeoutMillis });
  return failoverPool([poolOf(first), ...others.map(poolOf)]);
}

/** @throws An error with the code READ_ONLY if the session cannot write, such as on a standby. */
export async function assertWritable(client: ClientBase): Promise<void> {
  // A connection that breaks also rejects its query. Without a listener the event would end the process.
  client.on('error', () => {});
  const { rows } = await client.query<{ value: string }>(`select current_setting('transaction_read_only') as value`);
  if (rows[0]?.value === 'on') throw Object.assign(new Error('The session is read-only.'), { code: READ_ONLY });
}

function newPool(settings: PoolConfig): Pool {
  const pool = new Pool({
    application_name: 'reseller-service',
    types: {
      // The driver returns 64-bit integers as text. All integers of the service are below 2^53.
      getTypeParser: (oid, format) => (oid === INT8 || oid === NUMERIC ? integer : types.getTypeParser(oid, format)),
    },
    ...settings,
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

function integer(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError(`The database returned the integer ${text}, which is beyond 2^53.`);
  return value;
}
