import { toLogRow } from '../log-row.ts';
import type { LogEntry } from '../log-row.ts';
import { lastQueries, together } from '../prepared.ts';
import type { CommitOptions, Store, Transaction } from '../store.ts';
import { isCollision } from './errors.ts';
import { entryColumns, insertEntries } from './request-log.ts';
import type { Session } from './session.ts';

/** Attempts of a transaction that collides with others. */
const MAX_ATTEMPTS = 10;

/** Runs work with a session that no other work uses. */
export type WithSession = <T>(options: CommitOptions, work: (session: Session) => Promise<T>) => Promise<T>;

/** Runs each transaction in its own session. */
export function postgresCommit(withSession: WithSession): Store['commit'] {
  return (work, options = {}) => retryingCollisions(() => withSession(options, (session) => runTransaction(session, work)));
}

/** Runs work again that other transactions have stopped. */
export async function retryingCollisions<T>(work: () => Promise<T>): Promise<T> {
  for (let attempts = 1; ; attempts++) {
    try {
      return await work();
    } catch (error) {
      if (attempts === MAX_ATTEMPTS || !isCollision(error)) throw error;
    }
  }
}

async function runTransaction<T>(session: Session, work: (transaction: Transaction) => Promise<T>): Promise<T> {
  const { db } = session;
  const entries: LogEntry[] = [];
  const last = lastQueries();
  session.begin();
  const result = await work({
    db,
    async rollBack() {
      last.discard();
      await session.rollBack();
    },
    log: (entry) => void entries.push(entry),
    atCommit: last.add,
  });
  if (entries.length > 0) void last.add(insertEntries, entryColumns(entries.map(toLogRow)));
  const before = session.sentStatements();
  const running = last.run(db);
  // A query that could not be sent has failed. The others must not be committed without it.
  if (session.sentStatements() < before + last.count()) await running;
  // If the database refuses one, it rolls back instead of committing.
  const [resolve] = await together([running, session.commit()]);
  resolve();
  return result;
}
