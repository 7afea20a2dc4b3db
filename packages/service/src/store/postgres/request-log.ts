/**
 * The request log on PostgreSQL. Requests insert their entries into an inbox, without a counter that they would have to wait for. Entries
 * are numbered later, in the order of commits, when they are moved to the log: before an account reads its log, and regularly.
 */
import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';

import { createResponseMemory, REFRESH_MS } from '../log-row.ts';
import type { LogEntry, LogRow, ResponseMemory, SharedBody } from '../log-row.ts';
import { prepared } from '../prepared.ts';
import { StoreBusyError } from '../store.ts';
import type { Db, RequestLog, Store, Transaction } from '../store.ts';
import { tuningOf } from '../tuning.ts';
import type { Tuning } from '../tuning.ts';
import { isLockFailure } from './errors.ts';

/** Distinguishes the advisory locks of the log from others. */
const LOCK_SEED = 14;
/** How long the deletion of a month waits for readers of the log before it gives up until the next time. */
const DROP_TIMEOUT_MS = 250;
/** Held by transactions that number entries, and taken alone to find the end of the feed. */
const FEED_LOCK = lockOf(sql`'feed'`);
/** How long a reader of the feed waits for transactions that number entries. Others that begin in the meantime wait behind it. */
const FEED_TIMEOUT_MS = 250;

/** The store that the log is a part of. */
interface LogStore {
  /** Runs statements that commit on their own. */
  readonly run: Store['read'];
  readonly commit: Store['commit'];
  readonly tuning: Tuning;
}

export function postgresRequestLog({ run, commit, tuning }: LogStore): RequestLog {
  const { logBatch, logGroup } = tuning;
  const memory = createResponseMemory(tuning);
  return {
    append: groupAppend(logGroup, (entries) => commit(async (transaction) => insertGroup(transaction, memory, entries))),
    async number(transaction, accountId) {
      await sql`select pg_advisory_xact_lock(${lockOf(sql`${accountId}::text`)})`.execute(transaction);
      for (let left = await batchesOf(transaction, sql`account_id = ${accountId}`); left > 0; left--)
        await moveToLog(transaction, [accountId]);
    },
    async numberAll() {
      let left = await run((db) => batchesOf(db, sql`true`));
      while (left > 0 && (await commit(({ db }) => numberBatch(db))) === logBatch) left--;
    },
    prepareMonths: createPartitions,
    async deleteMonthsBefore(month) {
      for (const partition of await run((db) => partitionsBefore(db, month)))
        await commit(async ({ db }) => {
          await sql`set local lock_timeout = ${sql.lit(DROP_TIMEOUT_MS)}`.execute(db);
          await sql`drop table if exists ${sql.table(partition)}`.execute(db);
        });
    },
    feedEnd: feedEnd(commit),
    async storeSize() {
      const query = sql<{ size: number }>`select pg_database_size(current_database()) as size`;
      const { rows } = await run((db) => query.execute(db), { isUrgent: true });
      return rows[0]?.size ?? 0;
    },
  };
}

/**
 * The end of the feed. An entry gets its place while it is numbered, and can be read only when that transaction has committed. So the places
 * of two transactions can become readable in the wrong order. Each of them holds a lock that this function takes alone for a moment: then
 * every place up to the last one can be read, or never will be. If one of them takes long, the end stays where it was.
 */
function feedEnd(commit: Store['commit']): RequestLog['feedEnd'] {
  let known: number | undefined;
  return async () => {
    try {
      const end = await commit(async ({ db }) => {
        await sql`set local lock_timeout = ${sql.lit(FEED_TIMEOUT_MS)}`.execute(db);
        await sql`select pg_advisory_xact_lock(${FEED_LOCK})`.execute(db);
        const { rows } = await sql<{ last: number }>`select last_value as last from request_log_feed`.execute(db);
        return rows[0]?.last ?? 0;
      });
      known = Math.max(known ?? 0, end);
    } catch (error) {
      if (!isLockFailure(error)) throw error;
    }
    if (known === undefined) throw new StoreBusyError('The request log is being numbered.');
    return known;
  };
}

/** Entries that arrive while an insert is in progress share the next one. */
function groupAppend(groupSize: number, insert: (entries: readonly LogEntry[]) => Promise<void>): RequestLog['append'] {
  interface WaitingAppend {
    readonly entry: LogEntry;
    resolve(): void;
    reject(error: unknown): void;
  }
  let waiting: WaitingAppend[] = [];
  let isInserting = false;

  async function insertAll(): Promise<void> {
    isInserting = true;
    // Requests of the same iteration of the event loop belong to the same group.
    await new Promise((resolve) => setImmediate(resolve));
    while (waiting.length > 0) {
      const group = waiting.splice(0, groupSize);
      try {
        await insert(group.map(({ entry }) => entry));
        for (const { resolve } of group) resolve();
      } catch (error) {
        for (const { reject } of group) reject(error);
      }
    }
    isInserting = false;
  }

  return (entry) =>
    new Promise((resolve, reject) => {
      waiting.push({ entry, resolve, reject });
      if (!isInserting) void insertAll();
    });
}

/** Inserts entries into the inbox, and the responses that they refer to, in one round trip with the commit. */
function insertGroup({ atCommit }: Transaction, memory: ResponseMemory, entries: readonly LogEntry[]): void {
  const rows: LogRow[] = [];
  const bodies = new Map<string, SharedBody>();
  for (const entry of entries) {
    const { row, shared } = memory.toLogRow(entry);
    rows.push(row);
    if (shared) bodies.set(`${shared.account_id} ${shared.month} ${shared.hash}`, shared);
  }
  if (bodies.size > 0) void atCommit(insertBodies, bodiesInOrder(bodies));
  void atCommit(insertEntries, entryColumns(rows));
}

/** All instances insert bodies in one order, so that they do not deadlock. */
function bodiesInOrder(bodies: ReadonlyMap<string, SharedBody>): BodyColumns {
  const inOrder = [...bodies].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, body]) => body);
  return {
    months: inOrder.map(({ month }) => month),
    accounts: inOrder.map(({ account_id }) => account_id),
    hashes: inOrder.map(({ hash }) => hash),
    bodies: inOrder.map(({ body }) => body),
    sizes: inOrder.map(({ size }) => size),
    times: inOrder.map(({ stored }) => stored),
  };
}

interface BodyColumns {
  readonly months: readonly number[];
  readonly accounts: readonly string[];
  readonly hashes: readonly string[];
  readonly bodies: readonly string[];
  readonly sizes: readonly number[];
  readonly times: readonly number[];
}

const insertBodies = prepared<BodyColumns, unknown>((db, parameter) => ({
  compile: () =>
    sql`
      insert into request_log_bodies (month, account_id, hash, body, size, stored)
      select * from unnest(${parameter('months')}::bigint[], ${parameter('accounts')}::text[], ${parameter('hashes')}::text[],
        ${parameter('bodies')}::text[], ${parameter('sizes')}::bigint[], ${parameter('times')}::bigint[])
      on conflict (month, account_id, hash) do update set stored = excluded.stored, size = excluded.size
        where coalesce(request_log_bodies.stored, 0) < excluded.stored - ${sql.lit(REFRESH_MS)}`.compile(db),
}));

/** The columns of the inbox. */
const COLUMNS = [
  ['account_id', 'text'],
  ['month', 'bigint'],
  ['request_id', 'text'],
  ['date', 'bigint'],
  ['success', 'bigint'],
  ['endpoint', 'text'],
  ['method', 'text'],
  ['request_body', 'text'],
  ['error_type', 'text'],
  ['response_body', 'text'],
  ['response_hash', 'text'],
  ['status', 'bigint'],
  ['duration', 'bigint'],
  ['key_id', 'text'],
  ['idempotency_key', 'text'],
  ['is_replay', 'bigint'],
  ['bought', 'text'],
  ['size', 'bigint'],
] as const satisfies readonly (readonly [keyof LogRow, 'text' | 'bigint'])[];

/** The columns that an entry has in the inbox and in the log. */
const KEPT = sql.join(COLUMNS.flatMap(([name]) => (name === 'size' ? [] : [sql.ref(name)])));

/** Values of the rows by column. */
type Columns = Readonly<Record<string, readonly (string | number | null)[]>>;

export function entryColumns(rows: readonly LogRow[]): Columns {
  return Object.fromEntries(COLUMNS.map(([name]) => [name, rows.map((row) => row[name] ?? null)]));
}

/** @param values A parameter with the values of a column. */
function entriesInsert(values: (name: string) => RawBuilder<unknown>) {
  const arrays = COLUMNS.map(([name, type]) => sql`${values(name)}::${sql.raw(type)}[]`);
  return sql`insert into request_log_inbox (${sql.join(COLUMNS.map(([name]) => sql.ref(name)))}) select * from unnest(${sql.join(arrays)})`;
}

/** Inserts entries into the inbox. */
export const insertEntries = prepared<Columns, unknown>((db, parameter) => ({ compile: () => entriesInsert(parameter).compile(db) }));

/**
 * How many batches the entries of the inbox fill now. Entries that arrive while these are numbered wait for the next time. Otherwise a reader
 * of the log would wait as long as others write faster than it numbers.
 */
async function batchesOf(db: Db, which: RawBuilder<unknown>): Promise<number> {
  const { rows } = await sql<{ waiting: number }>`select count(*) as waiting from request_log_inbox where ${which}`.execute(db);
  return Math.ceil((rows[0]?.waiting ?? 0) / tuningOf(db).logBatch);
}

/** Numbers the oldest entries, except those of accounts that another transaction is numbering. Returns how many there were. */
async function numberBatch(transaction: Db): Promise<number> {
  const { rows } = await sql<{ account_id: string }>`
    select account_id from (
      select distinct account_id from (select account_id from request_log_inbox order by id limit ${tuningOf(transaction).logBatch}) as oldest
    ) as waiting
    where pg_try_advisory_xact_lock(${lockOf(sql`account_id`)})`.execute(transaction);
  return rows.length === 0
    ? 0
    : moveToLog(
        transaction,
        rows.map(({ account_id }) => account_id),
      );
}

/** Numbers all entries. The caller has locked the tables. */
export async function numberAllLocked(transaction: Db): Promise<void> {
  for (;;) {
    const { rows } = await sql<{ account_id: string }>`select distinct account_id from request_log_inbox`.execute(transaction);
    if (rows.length === 0) return;
    await moveToLog(
      transaction,
      rows.map(({ account_id }) => account_id),
    );
  }
}

/**
 * Moves the oldest entries of accounts from the inbox to the log. The identifiers of the inbox are in the order of insertion, so if a
 * request began after the response to another one, its entry has the higher number. An entry whose transaction is still open follows in a
 * later batch.
 *
 * @param accountIds Accounts that the transaction has locked in an earlier statement, so that this one sees the newest number.
 * @returns The number of entries.
 */
async function moveToLog(transaction: Db, accountIds: readonly string[]): Promise<number> {
  const { rows: oldest } = await sql<{ id: number; month: number }>`
    select id, month from request_log_inbox where account_id = any(${accountIds}::text[]) order by id limit ${tuningOf(transaction).logBatch}`.execute(
    transaction,
  );
  if (oldest.length === 0) return 0;
  await createPartitions(transaction, [...new Set(oldest.map(({ month }) => month))]);
  await sql`select pg_advisory_xact_lock_shared(${FEED_LOCK})`.execute(transaction);
  await sql`
    with taken as (
      delete from request_log_inbox where id = any(${oldest.map(({ id }) => id)}::bigint[]) returning *
    ), newest as (
      select account.id, coalesce(entry.number, 0) as number, coalesce(entry.position, 0) as position
      from accounts as account
      left join lateral (
        select number, position from request_log where account_id = account.id order by number desc limit 1
      ) as entry on true
      where account.id = any(${accountIds}::text[])
    )
    insert into request_log (number, position, ${KEPT})
    select newest.number + row_number() over by_account, newest.position + (sum(size) over by_account)::bigint, ${KEPT}
    from taken join newest on newest.id = account_id
    window by_account as (partition by account_id order by taken.id)
    order by taken.id`.execute(transaction);
  return oldest.length;
}

/** Creates the partitions of months that have none. Requests do not wait for it, because they insert into the inbox. */
export async function createPartitions(transaction: Db, months: readonly number[]): Promise<void> {
  const { rows } = await sql<{ month: number }>`
    select month from unnest(${months}::bigint[]) as month where to_regclass('request_log_' || month) is null`.execute(transaction);
  for (const { month } of rows) {
    // One instance at a time, because two would create the same table.
    await sql`select pg_advisory_xact_lock(${lockOf(sql`'months'`)})`.execute(transaction);
    const name = sql.table(`${PARTITION_PREFIX}${month}`);
    await sql`create table if not exists ${name} (like request_log including all)`.execute(transaction);
    const { rows: attached } = await sql`select 1 from pg_inherits where inhrelid = to_regclass(${PARTITION_PREFIX + month})`.execute(
      transaction,
    );
    // Creating the table as a partition would wait for readers of the log. Attaching it does not.
    if (attached.length === 0)
      await sql`alter table request_log attach partition ${name} for values in (${sql.lit(month)})`.execute(transaction);
  }
}

const PARTITION_PREFIX = 'request_log_';

async function partitionsBefore(db: Db, month: number): Promise<readonly string[]> {
  const { rows } = await sql<{ name: string }>`
    select inhrelid::regclass::text as name from pg_inherits where inhparent = 'request_log'::regclass`.execute(db);
  return rows.flatMap(({ name }) => (Number(name.slice(PARTITION_PREFIX.length)) < month ? [name] : []));
}

function lockOf(name: ReturnType<typeof sql>) {
  return sql`hashtextextended(${name}, ${LOCK_SEED}::bigint)`;
}
