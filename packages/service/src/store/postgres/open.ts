import { Kysely, PostgresDialect, sql } from 'kysely';
import type { Pool } from 'pg';

import { migrate } from '../migrate.ts';
import type { Schema } from '../schema.ts';
import { StoreOpenError, StoreUnavailableError } from '../store.ts';
import type { Store } from '../store.ts';
import { backoff, connectionsFor, flushingConnectionFor, MAX_CONNECTIONS, migrationConnectionsFor } from './connections.ts';
import { openFailure } from './errors.ts';
import { postgresCommit } from './commit.ts';
import type { WithSession } from './commit.ts';
import { sharedFlush } from './durable.ts';
import { createSession } from './session.ts';
import type { Session } from './session.ts';
import { postgresRequestLog } from './request-log.ts';
import { postgresSharing } from './sharing.ts';
import { waitingLine } from './waiting-line.ts';

/**
 * Opens the store on a PostgreSQL database and brings its tables up to date. Any number of instances may share it.
 *
 * @param url Connection string, such as postgres://user:password@host:5432/database.
 * @throws StoreOpenError if the database cannot be reached, or another version created its tables.
 */
export async function openPostgresStore(url: string): Promise<Store> {
  const tables = databaseOn(migrationConnectionsFor(url));
  const pool = connectionsFor(url);
  const flushing = flushingConnectionFor(url);
  try {
    await sql`select 1`.execute(tables);
    await migrate(tables, 'postgres');
    await pool.query('select 1');
  } catch (error) {
    await Promise.all([pool.end(), flushing.end()]);
    throw error instanceof StoreOpenError ? error : new StoreOpenError(openFailure(error, url), { cause: error });
  } finally {
    await tables.destroy();
  }
  const withBackoff = backoff();
  const withSession = sessionsOn(pool);
  const durable = sharedFlush(async () => void (await flushing.query(FLUSH)));
  const commitOnce = postgresCommit(withSession, durable);
  const commit: Store['commit'] = (work, options) => withBackoff(() => commitOnce(work, options));
  const read: Store['read'] = (work, options = {}) => withBackoff(() => withSession(options, ({ db }) => work(db)));
  let closing: Promise<void> | undefined;
  return {
    read,
    commit,
    sharing: postgresSharing(read),
    requestLog: postgresRequestLog({ run: read, commit, durable }),
    close: () => (closing ??= Promise.all([pool.end(), flushing.end()]).then(() => undefined)),
  };
}

/** A record in the database's log. The commit of a transaction waits until the log is on disk up to its own record. */
const FLUSH = "select pg_logical_emit_message(true, 'reseller', '')";

/** Work that waits for a connection. Each waiting request takes about 10 kB. */
const MAX_WAITING = 10_000;
/** Clients commonly give up after 30 seconds. */
const MAX_WAIT_MS = 20_000;

/** One session for each connection. */
function sessionsOn(pool: Pool): WithSession {
  const scope = {};
  const sessions: Session[] = [];
  const takePlace = waitingLine({ places: MAX_CONNECTIONS, maxLength: MAX_WAITING, maxWaitMs: MAX_WAIT_MS });
  return async ({ isUrgent = false }, work) => {
    const giveBack = await takePlace(isUrgent);
    if (pool.ending) {
      giveBack();
      throw new StoreUnavailableError('The store was closed.');
    }
    const session = sessions.pop() ?? createSession(pool, scope);
    try {
      return await work(session);
    } finally {
      await session.end();
      sessions.push(session);
      giveBack();
    }
  };
}

function databaseOn(pool: Pool): Kysely<Schema> {
  return new Kysely<Schema>({ dialect: new PostgresDialect({ pool }) });
}
