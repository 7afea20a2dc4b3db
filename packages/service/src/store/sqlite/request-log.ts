import type { DatabaseSync } from 'node:sqlite';

import { createResponseMemory, toLogRow } from '../log-row.ts';
import type { LogEntry, LogRow } from '../log-row.ts';

/** Appends to the request log within the transaction that is open on the connection. */
export interface LogWriter {
  /** Appends the entries of a transaction. */
  append(entries: readonly LogEntry[]): void;
  /** Appends the entry of a request that changes nothing else. Its response is stored once if it is repeated. */
  appendOne(entry: LogEntry): void;
}

const COLUMNS = [
  'account_id',
  'month',
  'request_id',
  'date',
  'success',
  'endpoint',
  'method',
  'request_body',
  'error_type',
  'response_body',
  'response_hash',
] as const satisfies readonly (keyof LogRow)[];

/** The most frequent write, because every request has an entry. So its statements are prepared once. */
export function logWriter(connection: DatabaseSync): LogWriter {
  const memory = createResponseMemory();
  const insert = connection.prepare(`
    insert into request_log (number, position, ${COLUMNS.join(', ')})
    select coalesce(newest.number, 0) + 1, coalesce(newest.position, 0) + ?, ${COLUMNS.map(() => '?').join(', ')}
    from (select 1) left join (select number, position from request_log where account_id = ? order by number desc limit 1) as newest`);
  const insertBody = connection.prepare('insert or ignore into request_log_bodies (month, account_id, hash, body) values (?, ?, ?, ?)');
  function write(row: LogRow): void {
    insert.run(row.size, ...COLUMNS.map((column) => row[column] ?? null), row.account_id);
  }
  return {
    append: (entries) => entries.map(toLogRow).forEach(write),
    appendOne(entry) {
      const { row, shared } = memory.toLogRow(entry);
      if (shared) insertBody.run(shared.month, shared.account_id, shared.hash, shared.body);
      write(row);
    },
  };
}
