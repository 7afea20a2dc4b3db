import { toLogRow } from '../log-row.ts';
import type { LogEntry } from '../log-row.ts';
import { RowsTakenError } from '../store.ts';
import type { CommitOptions, Store, Transaction } from '../store.ts';
import { isCollision, isWrongAssumption } from './errors.ts';
import type { FlushLine } from './flusher.ts';
import { insertRows } from './request-log.ts';
import type { Attempt, Session } from './session.ts';

/** Attempts of a transaction that collides with others. */
const MAX_ATTEMPTS = 10;

/** Runs work with a session that no other work uses. */
export type WithSession = <T>(options: CommitOptions, work: (session: Session) => Promise<T>) => Promise<T>;

/**
 * Runs each transaction in its own session.
 *
 * The database commits without waiting for its disk, so that a transaction releases its locks immediately. The caller waits for the disk
 * afterwards, together with all transactions that committed meanwhile. The database writes its log in the order of the commits, so a
 * transaction that has read the changes of another is never durable without it.
 *
 * @param openLine Opens the connection that waits for the disk.
 */
export function postgresCommit(withSession: WithSession, openLine: () => Promise<FlushLine>): Store['commit'] {
  return async (work, options = {}) => {
    let isOptimistic = options.isOptimistic === true;
    let waitsForRows = false;
    for (let attempts = 1; ; attempts++) {
      try {
        const attempt = { isOptimistic, waitsForRows };
        const { line, result, server } = await withSession(options, async (session) => ({
          line: await openLine(),
          ...(await runTransaction(session, work, attempt)),
        }));
        if (server !== undefined) await line.flush(server);
        return result;
      } catch (error) {
        if (isOptimistic && isWrongAssumption(error)) isOptimistic = false;
        else if (attempts === MAX_ATTEMPTS || !isCollision(error)) throw error;
        waitsForRows ||= error instanceof RowsTakenError;
      }
    }
  };
}

/** The result of the work, and the server that has committed it. Undefined if nothing was sent. */
interface CommittedWork<T> {
  readonly result: T;
  readonly server: string | undefined;
}

async function runTransaction<T>(
  session: Session,
  work: (transaction: Transaction) => Promise<T>,
  attempt: Attempt,
): Promise<CommittedWork<T>> {
  const { db } = session;
  const entries: LogEntry[] = [];
  session.begin(attempt);
  try {
    const result = await work({
      db,
      rollBack: () => session.rollBack(),
      log: (entry) => void entries.push(entry),
    });
    if (entries.length > 0) await insertRows(db, entries.map(toLogRow));
    return { result, server: await session.commit() };
  } catch (error) {
    // The work may have failed because of a wrong assumption.
    if (session.isAssuming()) await session.rollBack();
    throw error;
  }
}
