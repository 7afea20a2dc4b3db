/** Connections to the database, which notice when it is away. */
import { Socket } from 'node:net';

import { Pool, types } from 'pg';

import { StoreUnavailableError } from '../store.ts';
import { isSilence, unavailableOr } from './errors.ts';

/** Connections that one node keeps open at the most. */
const CONNECTIONS = 20;
/** Milliseconds until a connection is there, or the database counts as away. */
const CONNECTING = 5_000;
/** Milliseconds after which the database gives a statement up, also one that waits for another unit. */
const STATEMENT = 10_000;
/** Milliseconds without a byte after which a connection counts as dead: by then a database that lives has given up the statement, and said so. */
const SILENCE = 12_000;
/** Milliseconds after which an idle connection is closed: well before its silence would say anything. */
const IDLE = 8_000;
/** Milliseconds after which a unit that asks nothing is ended, so that a node that stands still or is cut off keeps no others waiting. */
const ABANDONED = 10_000;
/** Milliseconds for which a database that did not answer is not asked again. */
const REST = 1_000;
const INT8 = types.builtins.INT8;
/** Sums of int8 are numeric. */
const NUMERIC = types.builtins.NUMERIC;

/** Connections for the work of the service: each statement ends, or fails, within seconds. */
export function connectionsFor(url: string): Pool {
  return newPool({
    connectionString: url,
    max: CONNECTIONS,
    idleTimeoutMillis: IDLE,
    stream: () => {
      const socket = new Socket();
      // A network that swallows everything tells neither side.
      return socket.setTimeout(SILENCE, () =>
        socket.destroy(Object.assign(new Error('The database does not answer.'), { code: 'ETIMEDOUT' })),
      );
    },
    onConnect: async (client) => {
      // One that breaks while it is used tells its query; without a listener it would end the process besides.
      client.on('error', () => {});
      // Not as parameters of the connection: not every proxy in front of a database lets those through.
      await client.query(
        `select set_config('statement_timeout', '${STATEMENT}', false), set_config('idle_in_transaction_session_timeout', '${ABANDONED}', false)`,
      );
    },
  });
}

/** Connections for setting up tables, which takes as long as it takes. */
export function unhurriedConnectionsFor(url: string): Pool {
  return newPool({ connectionString: url, max: 2, onConnect: (client) => void client.on('error', () => {}) });
}

function newPool(settings: ConstructorParameters<typeof Pool>[0]): Pool {
  const pool = new Pool({
    ...settings,
    connectionTimeoutMillis: CONNECTING,
    application_name: 'reseller-service',
    types: {
      // The driver gives 64-bit integers as text; every one of ours is below 2^53.
      getTypeParser: (oid, format) => (oid === INT8 || oid === NUMERIC ? integer : types.getTypeParser(oid, format)),
    },
  });
  // An idle connection that breaks is replaced by the next request; without a listener it would end the process.
  pool.on('error', () => {});
  return pool;
}

/** Work on a database, which fails as callers of a store expect it. */
export type Patient = <T>(work: () => Promise<T>) => Promise<T>;

/**
 * Has work fail at once for a moment after the database did not answer, so that who failed by it
 * does not wait once more to undo or to log what failed, and callers do not pile up.
 */
export function patience(): Patient {
  let restUntil = 0;
  return async (work) => {
    if (performance.now() < restUntil) throw new StoreUnavailableError('The database did not answer a moment ago.');
    try {
      return await work();
    } catch (error) {
      if (isSilence(error)) restUntil = performance.now() + REST;
      throw unavailableOr(error);
    }
  };
}

function integer(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError(`The database holds the integer ${text}, which is beyond 2^53.`);
  return value;
}
