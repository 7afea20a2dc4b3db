import { Kysely, PostgresDialect, sql } from 'kysely';

import { migrate } from '../migrate.ts';
import type { Schema } from '../schema.ts';
import { StoreUnavailableError } from '../store.ts';
import type { PoolFigures, Store } from '../store.ts';
import { DEFAULT_TUNING } from '../tuning.ts';
import type { Tuning } from '../tuning.ts';
import { waitingLine } from '../waiting-line.ts';
import { postgresCommit, retryingCollisions } from './commit.ts';
import type { WithSession } from './commit.ts';
import { assertOwnSessions, backoff, connectionsFor, migrationConnectionsFor } from './connections.ts';
import { openFailure } from './errors.ts';
import type { Connections } from './failover.ts';
import { insertRows } from './insert-rows.ts';
import { retryingLocks } from './migrate.ts';
import { postgresRequestLog } from './request-log.ts';
import { createSession } from './session.ts';
import type { Session } from './session.ts';
import { postgresSharing } from './sharing.ts';

export interface PostgresStoreOptions {
  /** Replaces defaults. */
  readonly tuning?: Partial<Tuning>;
}

/**
 * Opens the store on a PostgreSQL database and brings its tables up to date. Any number of instances may share it.
 *
 * @param url Connection string, such as postgres://user:password@host:5432/database. It may name several hosts, separated by commas.
 * @throws StoreUnreachableError if the database cannot be reached.
 * @throws StoreOpenError if it cannot be used, or another version created its tables.
 */
export async function openPostgresStore(url: string, { tuning: given }: PostgresStoreOptions = {}): Promise<Store> {
  const tuning = { ...DEFAULT_TUNING, ...given };
  const migrating = migrationConnectionsFor(url);
  const tables = databaseOn(migrating);
  const pool = connectionsFor(url, tuning.connections);
  try {
    await assertOwnSessions(migrating);
    await migrate(tables, 'postgres', retryingLocks());
    (await pool.connect()).release();
  } catch (error) {
    await pool.end();
    throw openFailure(error, url);
  } finally {
    await tables.destroy();
  }
  const withBackoff = backoff();
  const sessions = sessionsOn(pool, tuning);
  const commitOnce = postgresCommit(sessions.use);
  const commit: Store['commit'] = (work, options) => withBackoff(() => commitOnce(work, options));
  const read: Store['read'] = (work, options = {}) =>
    withBackoff(() => retryingCollisions(() => sessions.use(options, ({ db }) => work(db))));
  let closing: Promise<void> | undefined;
  async function close(): Promise<void> {
    sessions.close();
    await pool.end();
  }
  return {
    read,
    readLong: (work) =>
      commit(async ({ db }) => {
        await sql`set transaction isolation level repeatable read, read only`.execute(db);
        return work(db);
      }),
    commit,
    tuning,
    insertRows,
    sharing: postgresSharing(read),
    requestLog: postgresRequestLog({ run: read, commit, tuning }),
    pool: sessions.figures,
    close: () => (closing ??= close()),
  };
}

/** Maximum number of transactions and reads that wait for a connection. Each waiting request takes about 10 kB. */
const MAX_WAITING = 10_000;
/** Clients commonly give up after 30 seconds. */
const MAX_WAIT_MS = 20_000;

/** One session for each place in the waiting line. */
function sessionsOn(pool: Connections, tuning: Tuning): { readonly use: WithSession; figures(): PoolFigures; close(): void } {
  const shared = { scope: {}, tuning };
  const sessions: Session[] = [];
  const line = waitingLine({ places: tuning.connections, maxLength: MAX_WAITING, maxWaitMs: MAX_WAIT_MS });
  let isClosed = false;
  const use: WithSession = async ({ isUrgent = false }, work) => {
    const giveBack = await line.takePlace(isUrgent);
    if (isClosed) {
      giveBack();
      throw new StoreUnavailableError('The store was closed.');
    }
    const session = sessions.pop() ?? createSession(pool, shared);
    try {
      return await work(session);
    } finally {
      await session.end();
      sessions.push(session);
      giveBack();
    }
  };
  return { use, figures: line.figures, close: () => void (isClosed = true) };
}

function databaseOn(pool: Connections): Kysely<Schema> {
  return new Kysely<Schema>({ dialect: new PostgresDialect({ pool }) });
}
