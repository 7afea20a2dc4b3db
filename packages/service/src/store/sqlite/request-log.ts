import type { DatabaseSync } from 'node:sqlite';

import type { LogEntry } from '../store.ts';

/** Appends to the request log within the transaction that is open on the connection. */
export interface LogWriter {
  append(entries: readonly LogEntry[]): void;
  /** Reads the next numbers from the table again, after a rollback. */
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
 * The most frequent write, because every request has an entry. So the statement is prepared once, and the newest number of an account is
 * cached, which is possible because the store belongs to this process.
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
