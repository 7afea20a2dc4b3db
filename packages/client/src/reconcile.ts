/**
 * Finds out what happened to a request whose response was lost. Only evidence of the service counts: its response to the key, or entries of its
 * request log. That an entry is missing proves nothing.
 */
import { SECRETS } from './generated/document.gen.ts';
import type { RequestLogItem } from './generated/types.gen.ts';
import type { LostRequest } from './lost-request.ts';
import type { RequestHistory } from './request-history.ts';
import { candidatesFor, entriesOfKey } from './request-log.ts';
import type { EntriesOfKey, LogReader, LogSnapshot } from './request-log.ts';
import { isTransient } from './runtime/classify.ts';
import { ageOf } from './runtime/clock.ts';
import { isKeyKept } from './runtime/connection.ts';
import type { Connection } from './runtime/connection.ts';
import { ResellerError, SpendRefusedError } from './runtime/errors.ts';
import { MASK } from './runtime/form.ts';
import { sha256Of } from './runtime/hash.ts';
import { parseJson } from './runtime/json.ts';
import type { Operation } from './runtime/operation.ts';
import type { RequestOptions } from './runtime/options.ts';
import type { Prepared } from './runtime/prepare.ts';
import type { Recovered } from './runtime/recovered.ts';
import type { ApiResponse } from './runtime/request.ts';
import { backoffMs } from './runtime/retry.ts';

/** What happened to a request, as one of the operations of a client. `operation` says which type `data` has. */
export type ReconciliationOf<Types> = { readonly [Id in keyof Types]: CommittedAs<Id, Types[Id]> }[keyof Types] | NotCommitted | Undecided;

/** The same as one of any operation. */
export type Outcome = CommittedAs<never, never> | NotCommitted | Undecided;

/** It was carried out, once. */
export interface CommittedAs<Id, Data> {
  readonly outcome: 'committed';
  readonly operation: Id;
  /** Without the secrets that the request log masks. */
  readonly data: Recovered<Data>;
  /** Paths within `data` that are missing because the request log masks them: `config.password`. */
  readonly masked: readonly string[];
  /** Its entry in the request log. Absent when the server returned the response that belongs to the key. */
  readonly entry?: RequestLogItem;
}

/** It was not carried out: the service refused each of its attempts. Making the call again is safe. */
export interface NotCommitted {
  readonly outcome: 'not-committed';
  /** The entry of a refusal in the request log. */
  readonly entry: RequestLogItem;
  /** Why the service refused it, for people. */
  readonly message: string;
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
  /** Milliseconds after the end of the last attempt for which the request log is read. Default 60,000. */
  readonly waitMs?: number | undefined;
  /**
   * Whether the request may be sent again with its idempotency key, to a server that honours keys. It takes effect once, even if
   * it never arrived before. With `false`, the request log alone decides. Default true.
   */
  readonly resend?: boolean | undefined;
}

export interface ReconcileParts {
  readonly log: LogReader;
  readonly connection: Connection;
  readonly history: RequestHistory;
  /** Sends the request again, with the same key. */
  readonly resend: (prepared: Prepared) => Promise<ApiResponse<never>>;
}

const WAIT_MS = 60_000;
const FIRST_READ_DELAY_MS = 4_000;
/** Factor between two consecutive delays between reads of the log. */
const READ_DELAY_FACTOR = 4;

/** @throws ResellerError when the request log cannot be read. */
export async function reconcile(parts: ReconcileParts, request: LostRequest, options: ReconcileOptions): Promise<Outcome> {
  const { keys } = parts.connection;
  if (keys.honoured === undefined) await parts.log.contact();
  const other = request.isOfOtherKey === true ? await otherAccount(parts, request) : undefined;
  if (other !== undefined) return other;
  const mayResend = options.resend !== false && request.isOfOtherKey !== true && isWhole(request) && keys.honoured === true;
  const found = mayResend ? await reconcileByKey(parts, request, options) : request.attempts;
  if (typeof found === 'object') return found;
  return watched(parts.log, request, () => reconcileByLog(parts, { ...request, attempts: found }, options));
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
  const snapshot = await watched(log, probe, () => log.read(probe, clock.now()));
  if (witness !== undefined && snapshot.entries.some(({ requestID }) => requestID === witness.requestID)) return undefined;
  if (witness !== undefined && snapshot.isComplete)
    throw new TypeError(
      `The value is of another account: the request log of this one has no request ${witness.requestID}, which that account made before. Call reconcile() with a key of that account.`,
    );
  return undecided(
    snapshot,
    [],
    'It was sent with another API key, and the request log does not show whether that is a key of this account. Call reconcile() with the key that made the call, or ask the provider before you repeat it.',
  );
}

function undecided({ entries, isComplete }: LogSnapshot, candidates: readonly RequestLogItem[], advice: string): Undecided {
  const [first] = entries;
  const last = entries.at(-1);
  const read = { entries: entries.length, ...(first && last && { newest: first.requestDate, oldest: last.requestDate }), isComplete };
  return { outcome: 'undecided', candidates, read, advice };
}

/** Whether the form of a request is known with its secrets. */
function isWhole({ isStored, prepared: { fields } }: LostRequest): boolean {
  return !isStored || fields.every(({ shown }) => shown !== MASK);
}

/** @returns The outcome, or the number of attempts by now if there is none. */
async function reconcileByKey(
  { connection: { clock, keys, timeoutMs: defaultTimeoutMs }, history, resend }: ReconcileParts,
  request: LostRequest,
  { waitMs = WAIT_MS, signal, timeoutMs, maxRetries, headers }: ReconcileOptions,
): Promise<Outcome | number> {
  const { prepared, sentAt, sentOn } = request;
  // The request that is sent again may take as long as the first one.
  const end = clock.now() + 2 * waitMs;
  // The signal of the call may be the reason why its response was lost.
  const options = { ...prepared.options, signal, ...definedOf({ timeoutMs, maxRetries, headers }), deadlineMs: undefined };
  let { attempts } = request;
  for (let retries = 0; isKeyKept(keys, ageOf(request, clock), options.timeoutMs ?? defaultTimeoutMs); retries++) {
    try {
      const response = await resend({ ...prepared, firstSent: { sentAt, sentOn }, options });
      history.remember(response.requestID, clock.now());
      return committed(prepared.operation, await response.toResponse().text());
    } catch (error) {
      if (!(error instanceof ResellerError) || signal?.aborted) throw error;
      // A guard of the client forbids to send it again. Only the log can tell.
      if (error instanceof SpendRefusedError) return attempts;
      attempts += error.attempts;
      // A refusal of this attempt says nothing about the earlier ones. The log shows whether they were refused as well.
      if (wasRefused(error) || clock.now() >= end) return attempts;
    }
    await clock.sleep(backoffMs(retries), signal);
  }
  return attempts;
}

function wasRefused({ cause }: ResellerError): boolean {
  if (!(cause instanceof ResellerError) || cause.status === undefined) return false;
  return cause.type !== undefined && cause.type !== 'idempotency_key_in_progress' && !isTransient(cause.status);
}

function definedOf<T extends object>(options: T): Partial<T> {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as Partial<T>;
}

async function reconcileByLog(
  { history, log, connection: { clock } }: ReconcileParts,
  request: LostRequest,
  { waitMs = WAIT_MS, signal }: ReconcileOptions,
): Promise<Outcome> {
  const { idempotencyKey } = request.prepared;
  const keyHash = idempotencyKey === undefined ? undefined : await sha256Of(idempotencyKey);
  const end = Math.max(request.endedAt + waitMs, clock.now());
  for (let delay = FIRST_READ_DELAY_MS; ; delay *= READ_DELAY_FACTOR) {
    // Before that moment, the request may still be on its way or in progress.
    const isLast = clock.now() >= end;
    const snapshot = await log.read(request, isLast ? end : request.endedAt);
    const own = entriesOfKey(request.prepared, snapshot, keyHash);
    const outcome = own ? decideByKey(request, snapshot, own, isLast) : decideByFields(history, request, snapshot, { waitMs, isLast });
    if (outcome) return outcome;
    await clock.sleep(Math.min(delay, Math.max(end - clock.now(), 0)), signal);
    signal?.throwIfAborted();
  }
}

/** The outcome by the entries that have the key of the request, or undefined if the log may show more later. */
function decideByKey(
  request: LostRequest,
  snapshot: LogSnapshot,
  { successes, refusals, others }: EntriesOfKey,
  isLast: boolean,
): Outcome | undefined {
  const [success, ...further] = successes;
  if (success && further.length === 0) return committed(request.prepared.operation, success.response_body, success);
  if (success)
    return undecided(snapshot, successes, 'The service carried it out more than once. Each of the candidates has an effect of its own.');
  const [refusal] = refusals;
  // Every attempt has arrived, so none can arrive later.
  if (refusal && others.length === 0 && refusals.length >= request.attempts)
    return { outcome: 'not-committed', entry: refusal, message: String(Object(parseJson(refusal.response_body)).message) };
  if (!isLast) return undefined;
  return undecided(
    snapshot,
    others,
    `The request log shows ${refusals.length} of ${request.attempts} attempts as refused, and no success. The others may still arrive. Within the lifetime of its key, make the call again with the same idempotencyKey: it takes effect once.`,
  );
}

/**
 * The outcome by entries with the same fields at the time of the request, or undefined if the log may show more later. Only for an operation of
 * which the document says that no second request can succeed (`x-evidence`) does an entry prove anything: any other entry may be an equal
 * request of somebody else.
 */
function decideByFields(
  history: RequestHistory,
  request: LostRequest,
  snapshot: LogSnapshot,
  { waitMs, isLast }: { readonly waitMs: number; readonly isLast: boolean },
): Outcome | undefined {
  const { operation } = request.prepared;
  const { matches, possible, mayShowMore } = candidatesFor(history, request, snapshot, waitMs);
  const [match] = matches;
  if (operation.evidence !== undefined && match) return committed(operation, match.response_body, match);
  if (!isLast && (mayShowMore || operation.evidence !== undefined)) return undefined;
  return undecided(
    snapshot,
    possible,
    possible.length > 0
      ? 'Find out which of the candidates, if any, is the request.'
      : 'The request log does not show the request, which proves nothing. Ask the provider before you repeat it.',
  );
}

/** @param envelope JSON text of the response. */
function committed(operation: Operation, envelope: string, entry?: RequestLogItem): Outcome {
  const { data }: { data: never } = JSON.parse(envelope);
  const masked: string[] = [];
  removeMasks(data, '', masked);
  // The types of a client say which operations it has.
  return { outcome: 'committed', operation: operation.id as never, data, masked, ...(entry && { entry }) };
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
