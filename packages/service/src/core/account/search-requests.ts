/** Finds entries of the request logs of all accounts, and follows them as they arrive. */
import { sql } from 'kysely';
import type { ExpressionBuilder, SelectQueryBuilder } from 'kysely';

import type { Schema } from '../../store/schema.ts';
import type { Db } from '../../store/store.ts';
import { tuningOf } from '../../store/tuning.ts';

/** An entry of the request log without its bodies. */
export interface RequestSummary {
  readonly account_id: string;
  readonly number: number;
  readonly request_id: string;
  /** Milliseconds. */
  readonly date: number;
  /** 1 or 0. */
  readonly success: number;
  readonly endpoint: string;
  readonly method: string;
  readonly error_type: string | null;
  readonly status: number | null;
  readonly duration: number | null;
  readonly key_id: string | null;
  readonly is_replay: number | null;
  readonly bought: string | null;
  /** The response of a refused request, perhaps without its requestID. Null on success. */
  readonly refusal: string | null;
}

const SUMMARY = [
  'account_id',
  'number',
  'request_id',
  'date',
  'success',
  'endpoint',
  'method',
  'error_type',
  'status',
  'duration',
  'key_id',
  'is_replay',
  'bought',
] as const satisfies readonly (keyof RequestSummary)[];

/** Most responses of refused requests are stored once for all requests that got them. */
function refusal(eb: ExpressionBuilder<Schema, 'request_log'>) {
  const shared = eb
    .selectFrom('request_log_bodies as shared')
    .select('shared.body')
    .whereRef('shared.month', '=', 'request_log.month')
    .whereRef('shared.account_id', '=', 'request_log.account_id')
    .whereRef('shared.hash', '=', 'request_log.response_hash');
  return eb.case().when('error_type', 'is not', null).then(eb.fn.coalesce('response_body', shared)).end().as('refusal');
}

/** Which entries are wanted. Instants are in milliseconds. */
export interface RequestSearch {
  readonly accountId: string | undefined;
  readonly keyId: string | undefined;
  readonly requestId: string | undefined;
  readonly idempotencyKey: string | undefined;
  /** The beginning of the path. */
  readonly endpoint: string | undefined;
  readonly success: boolean | undefined;
  readonly status: number | undefined;
  readonly from: number | undefined;
  /** Exclusive. */
  readonly to: number | undefined;
}

/** Which of the found entries one call returns. */
interface Part {
  /** Where an earlier call ended. */
  readonly before: number | undefined;
  readonly limit: number;
  /** Milliseconds that one call of the infrastructure may take. */
  readonly portTimeoutMs: number;
}

/** A part of the found entries, newest first. */
export interface FoundRequests {
  readonly rows: readonly RequestSummary[];
  /** Where the next part begins. Undefined at the end. */
  readonly before: number | undefined;
}

/**
 * The place of an entry in the order that a search reads: among all accounts, or in the log of one account. Both rise with time, except that
 * an entry is stored when its request has ended.
 */
type PlaceColumn = 'feed' | 'number';
/** The time that a request needs in addition to its calls of the infrastructure. */
const REQUEST_MARGIN_MS = 60_000;

type Entries = SelectQueryBuilder<Schema, 'request_log', RequestSummary>;

/**
 * Searches backwards. The log has no index by its contents, because one would make every request slower. So a call reads a limited part of
 * it, which it finds by the time that is asked for.
 */
export async function searchRequests(
  db: Db,
  search: RequestSearch,
  { before = Number.MAX_SAFE_INTEGER, limit, portTimeoutMs }: Part,
): Promise<FoundRequests> {
  const place: PlaceColumn = search.accountId === undefined ? 'feed' : 'number';
  // A call that timed out is undone by a second one.
  const longest = 2 * portTimeoutMs + REQUEST_MARGIN_MS;
  const { from, to } = timesOf(search, longest);
  const first = from === undefined ? 1 : await placeAt(db, search, { place, time: from - longest });
  const end = to === undefined ? before : Math.min(before, await placeAt(db, search, { place, time: to + longest }));
  const lowest = await lowestOfPart(db, search, { place, first, end });
  const rows = await matching(entriesOf(db, search), { ...search, from, to })
    .select(place)
    .where(place, '>=', lowest ?? first)
    .where(place, '<', end)
    .orderBy(place, 'desc')
    .limit(limit + 1)
    .execute();
  if (rows.length > limit) return { rows: rows.slice(0, limit), before: rows[limit - 1]?.[place] ?? undefined };
  return { rows, before: lowest };
}

/** The entries whose place is after `cursor`, in their order. */
export async function requestsAfter(
  db: Db,
  { cursor, end, limit }: { readonly cursor: number; readonly end: number; readonly limit: number },
): Promise<{ readonly rows: readonly RequestSummary[]; readonly cursor: number }> {
  const rows = await db
    .selectFrom('request_log')
    .select([...SUMMARY, 'feed'])
    .select(refusal)
    .where('feed', '>', cursor)
    .where('feed', '<=', end)
    .orderBy('feed')
    .limit(limit)
    .execute();
  return { rows, cursor: rows.at(-1)?.feed ?? cursor };
}

/** The place of the newest entry, or 0. */
export async function newestPlace(db: Db, end: number): Promise<number> {
  const newest = await db
    .selectFrom('request_log')
    .select('feed')
    .where('feed', '>', 0)
    .where('feed', '<=', end)
    .orderBy('feed', 'desc')
    .limit(1)
    .executeTakeFirst();
  return newest?.feed ?? 0;
}

function entriesOf(db: Db, { accountId }: RequestSearch): Entries {
  const entries = db.selectFrom('request_log').select(SUMMARY).select(refusal);
  return accountId === undefined ? entries.where('feed', '>', 0) : entries.where('account_id', '=', accountId);
}

function matching(entries: Entries, search: RequestSearch): Entries {
  const { keyId, requestId, idempotencyKey, endpoint, success, status, from, to } = search;
  let found = entries;
  if (keyId !== undefined) found = found.where('key_id', '=', keyId);
  if (requestId !== undefined) found = found.where('request_id', '=', requestId);
  if (idempotencyKey !== undefined) found = found.where('idempotency_key', '=', idempotencyKey);
  if (endpoint !== undefined) found = found.where(sql<string>`substr(endpoint, 1, ${sql.lit(endpoint.length)})`, '=', endpoint);
  if (success !== undefined) found = found.where('success', '=', success ? 1 : 0);
  if (status !== undefined) found = found.where('status', '=', status);
  if (from !== undefined) found = found.where('date', '>=', from);
  if (to !== undefined) found = found.where('date', '<', to);
  return found;
}

/** The times of a search. An identifier of a request has its time in it (UUID version 7). */
function timesOf({ requestId, from, to }: RequestSearch, longest: number): Pick<RequestSearch, 'from' | 'to'> {
  if (requestId === undefined) return { from, to };
  const time = Number.parseInt(requestId.replaceAll('-', '').slice(0, 12), 16);
  const [earliest, latest] = [time - longest, time + longest];
  return { from: Math.max(earliest, from ?? earliest), to: Math.min(latest, to ?? latest) };
}

/** The lowest place that one call reads, if there are further entries below it. */
async function lowestOfPart(
  db: Db,
  search: RequestSearch,
  { place, first, end }: { readonly place: PlaceColumn; readonly first: number; readonly end: number },
): Promise<number | undefined> {
  const row = await entriesOf(db, search)
    .clearSelect()
    .select(place)
    .where(place, '>=', first)
    .where(place, '<', end)
    .orderBy(place, 'desc')
    .limit(1)
    .offset(tuningOf(db).searchedEntries)
    .executeTakeFirst();
  return row === undefined ? undefined : (row[place] ?? 0) + 1;
}

/** The place at which entries of a time begin, found by halving: the order of the places is nearly that of the times. */
async function placeAt(
  db: Db,
  search: RequestSearch,
  { place, time }: { readonly place: PlaceColumn; readonly time: number },
): Promise<number> {
  async function entryFrom(from: number, direction: 'asc' | 'desc') {
    const found = await entriesOf(db, search)
      .clearSelect()
      .select(['date', place])
      .where(place, direction === 'asc' ? '>=' : '<=', from)
      .orderBy(place, direction)
      .limit(1)
      .executeTakeFirst();
    return found && { date: found.date, place: found[place] ?? 0 };
  }
  let low = (await entryFrom(0, 'asc'))?.place ?? 0;
  let high = ((await entryFrom(Number.MAX_SAFE_INTEGER, 'desc'))?.place ?? 0) + 1;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const entry = await entryFrom(middle, 'asc');
    if (entry === undefined || entry.date >= time) high = middle;
    else low = entry.place + 1;
  }
  return low;
}
