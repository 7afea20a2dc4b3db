import type { DatabaseSync } from 'node:sqlite';

import type { LogEntry } from '../store.ts';

/** Appends to the request log within the transaction that is open on the connection. */
export interface LogWriter {
  append(entries: readonly LogEntry[]): void;
  /** Forgets what was appended since the last commit: the transaction was rolled back. */
  forget(): void;
}

const COLUMNS = [
  'account_id',
  'request_id',
  'date',
  'success',
  'endpoint',
  'method',
  'request_body',
  'error_type',
  'response_body',
] as const satisfies readonly (keyof LogEntry)[];

/**
 * The hottest write of all: every request has an entry. The store belongs to this process alone,
 * so the newest number of an account is kept in memory, and the statement is prepared once.
 */
export function logWriter(connection: DatabaseSync): LogWriter {
  const newest = new Map<string, number>();
  const last = connection.prepare('select max(number) as number from request_log where account_id = ?');
  const insert = connection.prepare(
    `insert into request_log (number, ${COLUMNS.join(', ')}) values (?, ${COLUMNS.map(() => '?').join(', ')})`,
  );
  const newestOf = (accountId: string): number => {
    const known = newest.get(accountId) ?? last.get(accountId)?.['number'];
    return typeof known === 'number' ? known : 0;
  };
  return {
    append(entries) {
      for (const entry of entries) {
        const number = newestOf(entry.account_id) + 1;
        insert.run(number, ...COLUMNS.map((column) => entry[column] ?? null));
        newest.set(entry.account_id, number);
      }
    },
    forget: () => newest.clear(),
  };
}
