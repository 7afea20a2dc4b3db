import type { DatabaseSync } from 'node:sqlite';

import { everyNameOf } from '../../rules/every-name.ts';
import { createResponseMemory, REFRESH_MS, toLogRow } from '../log-row.ts';
import type { LogEntry, LogRow, SharedBody } from '../log-row.ts';
import type { Tuning } from '../tuning.ts';

/** Appends to the request log within the transaction that is open on the connection. */
export interface LogWriter {
  append(entries: readonly LogEntry[]): void;
  /**
   * Begins a group of entries of requests that change nothing else, one after another. Responses that are repeated are stored once.
   *
   * @returns A function that appends an entry.
   */
  group(): (entry: LogEntry) => void;
}

const COLUMNS = everyNameOf<Omit<LogRow, 'size'>>()([
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
  'status',
  'duration',
  'key_id',
  'idempotency_key',
  'is_replay',
  'bought',
]);

function bodyKeyOf({ month, account_id, hash }: SharedBody): string {
  return `${account_id} ${month} ${hash}`;
}

/** The most frequent write, because every request has an entry. So its statements are prepared once. */
export function logWriter(connection: DatabaseSync, tuning: Tuning): LogWriter {
  const memory = createResponseMemory(tuning);
  const insert = connection.prepare(
    `insert into request_log (feed, number, position, ${COLUMNS.join(', ')}) values (?, ?, ?, ${COLUMNS.map(() => '?').join(', ')})`,
  );
  const selectNewest = connection.prepare('select number, position from request_log where account_id = ? order by number desc limit 1');
  let feed = Number(connection.prepare('select max(feed) as feed from request_log where feed > 0').get()?.['feed'] ?? 0);
  /** Microseconds, or one more than the last place. So a place is not used again after a restart, even if its entry was deleted. */
  function nextPlace(): number {
    feed = Math.max(feed + 1, Date.now() * 1_000);
    return feed;
  }
  const insertBody = connection.prepare(`
    insert into request_log_bodies (month, account_id, hash, body, size, stored) values (?, ?, ?, ?, ?, ?)
    on conflict do update set stored = excluded.stored, size = excluded.size where coalesce(stored, 0) < excluded.stored - ${REFRESH_MS}`);
  /** Numbers the rows of a group. The newest entry of an account is read once. */
  function numbering(): (row: LogRow) => void {
    const newest = new Map<string, { readonly number: number; readonly position: number }>();
    return (row) => {
      const { number, position } = newest.get(row.account_id) ?? selectNewest.get(row.account_id) ?? { number: 0, position: 0 };
      const next = { number: Number(number) + 1, position: Number(position) + row.size };
      insert.run(nextPlace(), next.number, next.position, ...COLUMNS.map((column) => row[column] ?? null));
      newest.set(row.account_id, next);
    };
  }
  return {
    append: (entries) => entries.map(toLogRow).forEach(numbering()),
    group() {
      const write = numbering();
      const stored = new Set<string>();
      return (entry) => {
        const { row, shared } = memory.toLogRow(entry);
        if (shared && !stored.has(bodyKeyOf(shared))) {
          insertBody.run(shared.month, shared.account_id, shared.hash, shared.body, shared.size, shared.stored);
          stored.add(bodyKeyOf(shared));
        }
        write(row);
      };
    },
  };
}
