/** Reads the request log (specification: "Request log item") back to a lost request, and finds the entries that may be its. */
import { SECRETS } from './generated/document.gen.ts';
import type { RequestLogItem } from './generated/types.gen.ts';
import type { LostRequest } from './lost-request.ts';
import { pagesOf } from './paged-call.ts';
import type { RequestHistory } from './request-history.ts';
import { isDataOf } from './runtime/envelope.ts';
import { isRecord, parseJson } from './runtime/json.ts';
import type { Clock } from './runtime/options.ts';
import type { Prepared } from './runtime/prepare.ts';

/** The request log at one moment. */
export interface LogSnapshot {
  /** Newest first. */
  readonly entries: readonly RequestLogItem[];
  /** Milliseconds that the clock of the log is ahead of that of the client. Undefined if the entries include none of this client. */
  readonly clockOffset: number | undefined;
  /** Whether the entries include the request that was made just before, and reach back to the lost one. */
  readonly isComplete: boolean;
}

export interface LogAccess {
  /** Reads the entries after the `offset` newest. */
  readonly readPage: (offset: number) => Promise<RequestLogItem[]>;
  /** Makes a harmless request that services log. Returns its identifier. */
  readonly sendHarmlessRead: () => Promise<string | null>;
}

/** Covers the time that a response takes, and logs that keep whole seconds. */
const CLOCK_SLACK_MS = 2_000;
const CLOCK_CHANGE_MS = 600_000;
/** On a busier account, the log proves nothing. */
const MAX_ENTRIES = 10_000;

/** Reads the log for all requests that are reconciled at the same time. */
export interface LogReader {
  /** Requests that are reconciled now. */
  readonly waiting: Set<LostRequest>;
  /** Makes a request whose response shows whether the server honours keys. Its entry dates the log and shows how current the log is. */
  contact(): Promise<string | null>;
  /** Reads the log back to a request that waits. The reading began at this time at the earliest. */
  read(request: LostRequest, since: number): Promise<LogSnapshot>;
}

/** Milliseconds for which callers share a reading. */
const MAX_AGE_MS = 250;

export function createLogReader({ readPage, sendHarmlessRead }: LogAccess, history: RequestHistory, clock: Clock): LogReader {
  const waiting = new Set<LostRequest>();
  const contact = shared(clock, async () => {
    const requestID = await sendHarmlessRead();
    history.remember(requestID, clock.now());
    return requestID;
  });
  let from = Infinity;
  const readBack = shared(clock, async (since) => {
    from = Math.min(...[...waiting].map(({ sentAt }) => sentAt));
    return readLog(readPage, history, from, await contact(since));
  });
  return {
    waiting,
    contact: () => contact(clock.now()),
    read: (request, since) => readBack(from > request.sentAt ? clock.now() : since),
  };
}

/** A function whose result concurrent callers share, if it was begun at the time that they ask for or later. */
function shared<T>(clock: Clock, run: (since: number) => Promise<T>): (since: number) => Promise<T> {
  let latest: { readonly startedAt: number; readonly result: Promise<T> } | undefined;
  return (since) => {
    const now = clock.now();
    if (!latest || latest.startedAt < since || now - latest.startedAt > MAX_AGE_MS) {
      const result = run(now);
      latest = { startedAt: now, result };
      // A failure is not shared.
      result.catch(() => {
        if (latest?.result === result) latest = undefined;
      });
    }
    return latest.result;
  };
}

/** @param newest Identifier of the request that was made just before. */
async function readLog(
  readPage: LogAccess['readPage'],
  { respondedAt }: RequestHistory,
  from: number,
  newest: string | null,
): Promise<LogSnapshot> {
  const entries: RequestLogItem[] = [];
  let clockOffset: number | undefined;
  let reachesBack = true;
  for await (const page of pagesOf(readPage)) {
    entries.push(...page);
    clockOffset ??= clockOffsetOf(page, respondedAt);
    const oldest = Date.parse(page.at(-1)?.requestDate ?? '');
    if (clockOffset !== undefined && oldest < from + clockOffset - CLOCK_SLACK_MS) break;
    reachesBack = entries.length < MAX_ENTRIES && clockOffset !== undefined;
    if (!reachesBack) break;
  }
  // The clock of the service was set back in between, so its times decide nothing.
  if (!isNewestFirst(entries)) clockOffset = undefined;
  return { entries, clockOffset, isComplete: reachesBack && entries.some(({ requestID }) => requestID === newest) };
}

function isNewestFirst(entries: readonly RequestLogItem[]): boolean {
  const dates = entries.map(({ requestDate }) => Date.parse(requestDate));
  return dates.every((date, index) => date <= (dates[index - 1] ?? date) + CLOCK_SLACK_MS);
}

/** Entries whose responses this client received show the difference between its clock and that of the log. */
function clockOffsetOf(entries: readonly RequestLogItem[], respondedAt: RequestHistory['respondedAt']): number | undefined {
  for (const { requestID, requestDate } of entries) {
    const ownTime = respondedAt.get(requestID);
    if (ownTime !== undefined) return Date.parse(requestDate) - ownTime;
  }
  return undefined;
}

/** Entries without the key of a request that may be the request's, oldest first. */
export interface Candidates {
  /** Whether the log may have its entry later, which no other request can have left. */
  readonly mayShowMore: boolean;
  /** Successes with the same path and fields, at the time of the request. */
  readonly matches: readonly RequestLogItem[];
  /**
   * Entries of the same operation within ten minutes that are not refusals. The log may write a request differently from how it was sent, and its
   * clock may have been set meanwhile.
   */
  readonly possible: readonly RequestLogItem[];
}

/** @param waitMs How long after its last attempt the request may have taken effect. */
export function candidatesFor(history: RequestHistory, request: LostRequest, snapshot: LogSnapshot, waitMs: number): Candidates {
  const { prepared, sentAt, endedAt } = request;
  const offset = snapshot.clockOffset;
  function isWithin({ requestDate }: RequestLogItem, slack: number): boolean {
    const at = Date.parse(requestDate) - (offset ?? 0);
    return at >= sentAt - slack && at <= endedAt + waitMs + slack;
  }
  const possible = snapshot.entries.toReversed().filter((entry) => {
    const hasOtherKey = typeof keyHashOf(entry) === 'string';
    const isOther = hasOtherKey || history.respondedAt.has(entry.requestID) || isRefused(entry) || !isSameOperation(prepared, entry);
    return !isOther && (offset === undefined || isWithin(entry, CLOCK_CHANGE_MS));
  });
  const matches = possible.filter(
    (entry) => offset !== undefined && isWithin(entry, CLOCK_SLACK_MS) && hasSameFields(prepared, entry) && isSuccess(prepared, entry),
  );
  const mayShowMore = possible.length === 0 || snapshot.entries.some((entry) => keyHashOf(entry) !== undefined);
  return { matches, possible: withoutRepetitions(possible), mayShowMore };
}

/** The entries of the attempts of a request, by its idempotency key. */
export interface EntriesOfKey {
  /** Without repetitions. */
  readonly successes: readonly RequestLogItem[];
  readonly refusals: readonly RequestLogItem[];
  /** Entries that say neither, such as those of failures of the service. */
  readonly others: readonly RequestLogItem[];
}

/** @returns undefined if no entry has the key. Then the log may not name keys, or something on the way may have removed it. */
export function entriesOfKey(prepared: Prepared, { entries }: LogSnapshot, keyHash: string | undefined): EntriesOfKey | undefined {
  const own = entries.filter((entry) => keyHash !== undefined && keyHashOf(entry) === keyHash && isSameOperation(prepared, entry));
  if (own.length === 0) return undefined;
  return {
    successes: withoutRepetitions(own.filter((entry) => isSuccess(prepared, entry))),
    refusals: own.filter(isRefused),
    others: own.filter((entry) => !isSuccess(prepared, entry) && !isRefused(entry)),
  };
}

/** The hash of the key with which the request of an entry was sent. Null without a key, and undefined if the log does not name keys. */
function keyHashOf(entry: RequestLogItem): unknown {
  return Reflect.get(entry, 'idempotency_key_hash');
}

/** A repetition with the same key is logged again, with the same response. */
function withoutRepetitions(entries: readonly RequestLogItem[]): readonly RequestLogItem[] {
  return [...new Map(entries.map((entry) => [entry.response_body, entry])).values()];
}

/** The log may keep the method in lower case, and the path with or without percent-encoding, a slash at its end and the baseUrl. */
function isSameOperation({ method, url }: Prepared, entry: RequestLogItem): boolean {
  const endpoint = normalised(entry.endpoint);
  const path = normalised(url);
  return String(entry.method).toUpperCase() === method && endpoint !== '' && `/${path}`.endsWith(`/${endpoint}`);
}

function normalised(address: string): string {
  const path = String(address).replaceAll(/^https?:\/\/[^/]*|[?#][^]*/g, '');
  try {
    return trimSlashes(decodeURIComponent(path)).toLowerCase();
  } catch {
    return trimSlashes(path).toLowerCase();
  }
}

function trimSlashes(path: string): string {
  return path.split('/').filter(Boolean).join('/');
}

/** Secrets are masked in the log and count by their names alone. */
function hasSameFields({ fields, body }: Prepared, entry: RequestLogItem): boolean {
  const sent = new URLSearchParams(body ?? '');
  const logged = parseJson(entry.request_body);
  const written = isRecord(logged) ? logged : {};
  return (
    Object.keys(written).length === fields.length &&
    fields.every(({ name }) => name in written && (SECRETS.has(name) || String(written[name]) === sent.get(name)))
  );
}

function isSuccess(prepared: Prepared, { success, response_body: text }: RequestLogItem): boolean {
  const envelope = parseJson(text);
  return Number(success) === 1 && isRecord(envelope) && 'data' in envelope && isDataOf(prepared, envelope['data']);
}

/** Whether the entry says that nothing was done. A service that fails or is unavailable may have done it, and may still be doing it. */
function isRefused({ success, error_type: type }: RequestLogItem): boolean {
  return Number(success) === 0 && typeof type === 'string' && !NO_REFUSALS.has(type);
}

const NO_REFUSALS: ReadonlySet<string> = /* @__PURE__ */ new Set([
  'internal_error',
  'unavailable',
  'idempotency_key_in_progress',
  'idempotency_key_reused',
]);
