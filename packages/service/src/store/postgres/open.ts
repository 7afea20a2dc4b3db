import { Kysely, PostgresDialect, sql } from 'kysely';

import { migrate } from '../migrate.ts';
import type { Schema } from '../schema.ts';
import { StoreOpenError } from '../store.ts';
import type { Store } from '../store.ts';
import { backoff, connectionsFor, MAX_CONNECTIONS, migrationConnectionsFor } from './connections.ts';
import type { Connections } from './failover.ts';
import { openFailure } from './errors.ts';
import { postgresCommit } from './commit.ts';
import { postgresRequestLog } from './request-log.ts';
import { countConnections } from './pool-figures.ts';
import { postgresSharing } from './sharing.ts';

/**
 * Opens the store on a PostgreSQL database and brings its tables up to date. Any number of instances may share it.
 *
 * @param url Connection string, such as postgres://user:password@host:5432/database. It may name several hosts, separated by commas.
 * @throws StoreOpenError if the database cannot be reached, or another version created its tables.
 */
export async function openPostgresStore(url: string): Promise<Store> {
  const tables = databaseOn(migrationConnectionsFor(url));
  const connections = connectionsFor(url);
  const pool = countConnections(connections, MAX_CONNECTIONS);
  const db = databaseOn(connections);
  try {
    await sql`select 1`.execute(tables);
    await migrate(tables, 'postgres');
    await sql`select 1`.execute(db);
  } catch (error) {
    await db.destroy();
    throw error instanceof StoreOpenError ? error : new StoreOpenError(openFailure(error, url), { cause: error });
  } finally {
    await tables.destroy();
  }
  const withBackoff = backoff();
  const commit = postgresCommit(db);
  let closing: Promise<void> | undefined;
  return {
    read: (work) => withBackoff(() => work(db)),
    commit: (work) => withBackoff(() => commit(work)),
    sharing: postgresSharing(db, withBackoff),
    requestLog: postgresRequestLog(db, withBackoff),
    pool,
    close: () => (closing ??= db.destroy()),
  };
}

function databaseOn(pool: Connections): Kysely<Schema> {
  return new Kysely<Schema>({ dialect: new PostgresDialect({ pool }) });
}
