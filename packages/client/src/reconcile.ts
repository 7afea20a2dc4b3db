/**
 * Finds out what happened to a request whose response was lost. Only evidence counts: a response to its key, or an entry of the request log.
 * That an entry is missing proves nothing.
 */
import { SECRETS } from './generated/document.gen.ts';
import type * as table from './generated/operation-table.gen.ts';
import type * as sdk from './generated/sdk.gen.ts';
import type { RequestLogItem } from './generated/types.gen.ts';
import { dropOldest } from './request-history.ts';
import type { LostRequest, RequestHistory } from './request-history.ts';
import { candidatesFor } from './request-log.ts';
import type { LogReader, LogSnapshot } from './request-log.ts';
import { isTransient } from './runtime/classify.ts';
import type { Connection } from './runtime/connection.ts';
import { OutcomeUnknownError, ResellerError, SpendRefusedError } from './runtime/errors.ts';
import { MASK } from './runtime/form.ts';
import type { Operation } from './runtime/operation.ts';
import type { Clock, RequestOptions } from './runtime/options.ts';
import type { Prepared } from './runtime/prepare.ts';
import type { Recovered } from './runtime/recovered.ts';
import { ARRIVAL_MS } from './runtime/request.ts';
import type { ApiResponse } from './runtime/request.ts';
import { backoffMs } from './runtime/retry.ts';
import { dateOf } from './stored-call.ts';

type Facts = (typeof table)[keyof typeof table];

/** Operations that must not take effect twice. */
export type OnceOperation = Exclude<Facts, { readonly repeatable: true }>['id'];

/** The result of an operation. */
export type OperationData<Id extends OnceOperation> = Awaited<ReturnType<(typeof sdk)[Id]>>;

/** What happened to a request. `operation` says which type `data` has. */
export type Reconciliation = { readonly [Id in OnceOperation]: Committed<Id> }[OnceOperation] | NotCommitted | Undecided;

/** It was carried out, once. */
export interface Committed<Id extends OnceOperation = OnceOperation> {
  readonly outcome: 'committed';
  readonly operation: Id;
  /** Without the secrets that the request log masks. */
  readonly data: Recovered<OperationData<Id>>;
  /** Paths within `data` that are missing because the request log masks them: `config.password`. */
  readonly masked: readonly string[];
  /** Its entry in the request log. Absent when the server returned the response that belongs to the key. */
  readonly entry?: RequestLogItem;
}

/** It was not carried out: the service refused it. Making the call again is safe. */
export interface NotCommitted {
  readonly outcome: 'not-committed';
  /** The entry of the refusal in the request log. */
  readonly entry?: RequestLogItem;
  /** The refusal, when the server returned one for the key. */
  readonly error?: ResellerError;
}

/** Nothing proves the one or the other. */
export interface Undecided {
  readonly outcome: 'undecided';
  /** Entries that may be the request's, oldest first. */
  readonly candidates: readonly RequestLogItem[];
  /** The part of the request log that was read. */
  readonly read: { readonly entries: number; readonly newest?: string; readonly oldest?: string; readonly isComplete: boolean };
  /** What to do, for people. */
  readonly advice: string;
}

export interface ReconcileOptions extends Pick<RequestOptions, 'signal' | 'timeoutMs' | 'maxRetries' | 'headers'> {
  /** Milliseconds after the end of the last attempt for which the request may still take effect. Default 60,000. */
  readonly waitMs?: number | undefined;
  /**
   * Whether the request may be sent again with its idempotency key, to a server that honours keys. It takes effect once, even if
   * it never arrived before. With `false`, the request log alone decides. Default true.
   */
  readonly resend?: boolean | undefined;
  /**
   * Whether no other program makes changes with this account. Without it, an entry for a new VM may belong to an identical purchase
   * of another program, and is a candidate only, and so may a refusal. Clients that `createReseller` makes in this program know each other's
   * requests; those of `createClient` are unknown. Default false.
   */
  readonly exclusive?: boolean | undefined;
}

export interface ReconcileParts {
  readonly log: LogReader;
  readonly connection: Connection;
  readonly history: RequestHistory;
  /** Sends the request again, with the same key. */
  readonly resend: (prepared: Prepared) => Promise<ApiResponse<never>>;
}

const FIRST_READ_DELAY_MS = 4_000;
/** Factor between two consecutive delays between reads of the log. */
const READ_DELAY_FACTOR = 4;

/** @throws ResellerError when the request log cannot be read. */
export async function reconcile(parts: ReconcileParts, request: LostRequest, options: ReconcileOptions): Promise<Reconciliation> {
  const { keys, clock } = parts.connection;
  const { resend = true } = options;
  if (keys.honoured === undefined) await parts.log.contact();
  const other = request.isOfOtherKey === true ? await otherAccount(parts, request) : undefined;
  if (other !== undefined) return other;
  if (resend && request.isOfOtherKey !== true && isWhole(request) && keys.honoured === true && ageOf(request, clock) < keys.lifetimeMs)
    await reconcileByKey(parts, request, options);
  if (request.outcome) return request.outcome;
  return watched(parts.log, request, () => reconcileByLog(parts, request, options));
}

/** Has the log read back to a request. */
async function watched<T>({ waiting }: LogReader, request: LostRequest, run: () => Promise<T>): Promise<T> {
  waiting.add(request);
  return run().finally(() => waiting.delete(request));
}

/**
 * Whether a stored call that was sent with another key is one of this account: then the log has an earlier request of it. After the rotation of
 * a key it is.
 *
 * @returns undefined when it is of this account, and an outcome when the log cannot tell.
 * @throws TypeError when it is of another account.
 */
async function otherAccount({ log, connection: { clock } }: ReconcileParts, request: LostRequest): Promise<Undecided | undefined> {
  const { witness } = request;
  const probe = { ...request, sentAt: witness?.at ?? request.sentAt };
  const { entries, isComplete } = await watched(log, probe, () => log.read(probe, clock.now()));
  if (witness !== undefined && entries.some(({ requestID }) => requestID === witness.requestID)) return undefined;
  if (witness !== undefined && isComplete)
    throw new TypeError(
      `The value is of another account: the request log of this one has no request ${witness.requestID}, which that account made before. Call reconcile() with a key of that account.`,
    );
  const advice =
    'It was sent with another API key, and the request log does not show whether that is a key of this account. Call reconcile() with the key that made the call, or ask the provider before you repeat it.';
  return { outcome: 'undecided', candidates: [], read: readPart(entries, isComplete), advice };
}

function readPart(entries: LogSnapshot['entries'], isComplete: boolean): Undecided['read'] {
  const [first] = entries;
  const last = entries.at(-1);
  return { entries: entries.length, ...(first && last && { newest: first.requestDate, oldest: last.requestDate }), isComplete };
}

/** Whether the form of a request is known with its secrets. */
function isWhole({ isStored, prepared: { fields } }: LostRequest): boolean {
  return !isStored || fields.every(({ shown }) => shown !== MASK);
}

/**
 * Milliseconds since a request was first sent. A machine that sleeps stops one of the clocks, and a person can set the other, so the larger
 * age counts: a key that may have expired is not sent again.
 */
function ageOf({ sentAt, sentOn }: LostRequest, clock: Clock): number {
  return Math.max(clock.now() - sentAt, dateOf(clock) - sentOn);
}

async function reconcileByKey(
  { connection: { clock }, history, resend }: ReconcileParts,
  request: LostRequest,
  { waitMs = ARRIVAL_MS, signal, timeoutMs, maxRetries, headers }: ReconcileOptions,
): Promise<void> {
  // The request that is sent again may take as long as the first one.
  const end = clock.now() + 2 * waitMs;
  // The signal of the call may be the reason why its response was lost.
  const options = { ...request.prepared.options, signal, ...definedOf({ timeoutMs, maxRetries, headers }), deadlineMs: undefined };
  const lostUntil = request.endedAt + waitMs;
  for (let retries = 0; !request.outcome; retries++) {
    let delay = backoffMs(retries);
    try {
      const response = await resend({ ...request.prepared, lostUntil, options });
      history.remember(response.requestID, clock.now());
      settle(history, request, committed(request.prepared.operation, await response.toResponse().text()));
      return;
    } catch (error) {
      if (!(error instanceof ResellerError) || signal?.aborted) throw error;
      // A guard of the client forbids to send it again. Only the log can tell.
      if (error instanceof SpendRefusedError) return;
      if (!(error instanceof OutcomeUnknownError)) return settle(history, request, { outcome: 'not-committed', error });
      // Until no earlier attempt can arrive any longer, another refusal would prove no more than this one.
      if (wasRefused(error)) delay = Math.max(delay, lostUntil - clock.now());
    }
    if (clock.now() >= end) return;
    await clock.sleep(delay, signal);
  }
}

function wasRefused({ cause }: OutcomeUnknownError): boolean {
  if (!(cause instanceof ResellerError) || cause.status === undefined) return false;
  return !isTransient(cause.status) && cause.type !== 'idempotency_key_in_progress';
}

function definedOf<T extends object>(options: T): Partial<T> {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as Partial<T>;
}

async function reconcileByLog(parts: ReconcileParts, request: LostRequest, options: ReconcileOptions): Promise<Reconciliation> {
  const { history, log } = parts;
  const { clock } = parts.connection;
  const { waitMs = ARRIVAL_MS, signal } = options;
  const end = request.endedAt + waitMs;
  for (let delay = FIRST_READ_DELAY_MS; ; delay *= READ_DELAY_FACTOR) {
    // Before that moment, the request may still be on its way or in progress.
    const isLast = clock.now() >= end;
    const snapshot = await log.read(request, isLast ? end : request.endedAt);
    const outcome = request.outcome ?? decide(history, request, snapshot, isLast, options);
    if (outcome) {
      if (outcome.outcome !== 'undecided') settle(history, request, outcome);
      return outcome;
    }
    await clock.sleep(Math.min(delay, Math.max(end - clock.now(), 0)), signal);
    signal?.throwIfAborted();
  }
}

/** The outcome by the log, or undefined if it may show more later. */
function decide(
  history: RequestHistory,
  request: LostRequest,
  snapshot: LogSnapshot,
  isLast: boolean,
  { waitMs = ARRIVAL_MS, exclusive = false }: ReconcileOptions,
): Reconciliation | undefined {
  const { operation } = request.prepared;
  const { matches, refusals, near, possible } = candidatesFor(history, request, snapshot, waitMs);
  // Two requests that name what they change have the same effect as one.
  if (operation.unique && matches[0]) return claim(history, matches[0], committed(operation, matches[0].response_body, matches[0]));
  // The entry may be that of an identical request whose response this program awaits.
  const isAnotherInProgress = [...history.inProgress].some((other) => isSame(other, request.prepared));
  const isOwn = exclusive && !isAnotherInProgress;
  const rivals = [...history.lost].filter((other) => isAlike(other, request, waitMs));
  // As many entries as identical lost requests: all were carried out, and any assignment is correct.
  const own = isOwn && matches.length === rivals.length && near.length === rivals.length ? matches[rivals.indexOf(request)] : undefined;
  if (own) return claim(history, own, committed(operation, own.response_body, own));
  const [refusal] = refusals;
  const isRefused = isOwn && possible.length === 0 && rivals.length === 1 && refusals.length >= request.attempts;
  if (isLast && refusal && isRefused && snapshot.isComplete) return claim(history, refusal, { outcome: 'not-committed', entry: refusal });
  const mayShowMore = operation.unique || isAnotherInProgress || near.length <= (isOwn ? rivals.length : 0);
  if (!isLast && mayShowMore) return undefined;
  return {
    outcome: 'undecided',
    candidates: possible,
    read: readPart(snapshot.entries, snapshot.isComplete),
    advice:
      possible.length > 0
        ? 'Find out which of the candidates, if any, is the request. See the option exclusive.'
        : 'The request log does not show the request, which proves nothing. Ask the provider before you repeat it.',
  };
}

/** Whether an entry that is one request's could be the other's as well. */
function isAlike(one: LostRequest, other: LostRequest, waitMs: number): boolean {
  return isSame(one.prepared, other.prepared) && one.sentAt <= other.endedAt + waitMs && other.sentAt <= one.endedAt + waitMs;
}

function isSame(one: Prepared, other: Prepared): boolean {
  return one.url === other.url && one.body === other.body;
}

/** An entry that belongs to one request does not belong to another. */
function claim({ claimed }: RequestHistory, { requestID }: RequestLogItem, outcome: Reconciliation): Reconciliation {
  claimed.add(requestID);
  dropOldest(claimed);
  return outcome;
}

function settle({ lost }: RequestHistory, request: LostRequest, outcome: Reconciliation): void {
  lost.delete(request);
  request.outcome = outcome;
}

/** @param envelope JSON text of the response. */
function committed(operation: Operation, envelope: string, entry?: RequestLogItem): Reconciliation {
  const { data } = JSON.parse(envelope);
  const masked: string[] = [];
  removeMasks(data, '', masked);
  const id = operation.id as OnceOperation;
  return { outcome: 'committed', operation: id, data, masked, ...(entry && { entry }) };
}

/** Removes masks, which could be mistaken for secrets, and collects their paths. */
function removeMasks(value: unknown, path: string, masked: string[]): void {
  if (typeof value !== 'object' || value === null) return;
  for (const [name, item] of Object.entries(value)) {
    if (SECRETS.has(name) && typeof item === 'string' && LOG_MASK.test(item)) {
      masked.push(path + name);
      Reflect.deleteProperty(value, name);
    } else removeMasks(item, `${path}${name}.`, masked);
  }
}

/** `***`, or words in brackets such as `[hidden]`. */
const LOG_MASK = /^([*•]+|[[(<].*[\])>])$/;
