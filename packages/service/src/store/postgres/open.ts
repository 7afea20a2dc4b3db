import { Kysely, PostgresDialect, sql } from 'kysely';
import { Pool, types } from 'pg';

import { migrate } from '../migrate.ts';
import type { Schema } from '../schema.ts';
import { StoreOpenError } from '../store.ts';
import type { Store } from '../store.ts';
import { openFailure, unavailableOr } from './errors.ts';
import { postgresCommit } from './commit.ts';
import { postgresSharing } from './sharing.ts';

/** Connections that one node keeps open at the most. */
const CONNECTIONS = 20;
/** Milliseconds after which a database that does not answer counts as away. */
const PATIENCE = 5_000;
/** Milliseconds after which a transaction that asks nothing is ended, so that a node that stands still or is cut off keeps no others waiting. */
const STANDSTILL = 10_000;
const INT8 = types.builtins.INT8;
/** Sums of int8 are numeric. */
const NUMERIC = types.builtins.NUMERIC;

/**
 * Opens the store on a PostgreSQL database and brings its tables up to date. Any number of nodes may share it.
 *
 * @param url Connection string, such as postgres://user:password@host:5432/database.
 * @throws StoreOpenError when the database cannot be reached or its tables are of a newer version.
 */
export async function openPostgresStore(url: string): Promise<Store> {
  const pool = new Pool({
    connectionString: url,
    max: CONNECTIONS,
    connectionTimeoutMillis: PATIENCE,
    application_name: 'reseller-service',
    types: {
      // The driver gives 64-bit integers as text; every one of ours is below 2^53.
      getTypeParser: (oid, format) => (oid === INT8 || oid === NUMERIC ? integer : types.getTypeParser(oid, format)),
    },
  });
  // A connection that breaks while nothing is asked of it, in the pool or between two queries of a unit, is found out by
  // the next query; without a listener it would end the process.
  pool.on('error', () => {});
  pool.on('connect', (client) => {
    client.on('error', () => {});
    // A unit waits for nothing but its queries: whoever stands still has died, and the others need what it has locked.
    client.query(`set idle_in_transaction_session_timeout = ${STANDSTILL}`).catch(() => {});
  });
  const db = new Kysely<Schema>({ dialect: new PostgresDialect({ pool }) });
  try {
    await sql`select 1`.execute(db);
    await migrate(db, 'postgres');
  } catch (error) {
    await db.destroy();
    throw error instanceof StoreOpenError ? error : new StoreOpenError(openFailure(error, url), { cause: error });
  }
  let closing: Promise<void> | undefined;
  return {
    async read(work) {
      try {
        return await work(db);
      } catch (error) {
        throw unavailableOr(error);
      }
    },
    commit: postgresCommit(db),
    sharing: postgresSharing(db),
    close: () => (closing ??= db.destroy()),
  };
}

function integer(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError(`The database holds the integer ${text}, which is beyond 2^53.`);
  return value;
}
