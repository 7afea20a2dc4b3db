/**
 * What happened to a request whose response was lost. A server that honours idempotency keys is asked by sending the request again with
 * its key. Otherwise the request log tells (specification: "Request log item").
 */
import { SECRETS } from './generated/document.gen.ts';
import type { OperationData, OnceOperation } from './generated/operations.gen.ts';
import type { RequestLogItem } from './generated/types.gen.ts';
import { isBefore } from './look.ts';
import type { Look } from './look.ts';
import type { LostRequest, Memory } from './memory.ts';
import type { Connection } from './runtime/connection.ts';
import { OutcomeUnknownError, ResellerError } from './runtime/errors.ts';
import { isRecord, parseJson } from './runtime/json.ts';
import type { Operation } from './runtime/operation.ts';
import type { RequestOptions } from './runtime/options.ts';
import type { Prepared } from './runtime/prepare.ts';
import type { Recovered } from './runtime/recovered.ts';
import type { ApiResponse } from './runtime/request.ts';
import { backoffMs } from './runtime/retry.ts';

/** What happened to a request. `operation` says which type `data` has. */
export type Reconciliation = { readonly [Id in OnceOperation]: Committed<Id> }[OnceOperation] | NotCommitted | Undecided;

/** It was carried out, once. */
export interface Committed<Id extends OnceOperation = OnceOperation> {
  readonly outcome: 'committed';
  readonly operation: Id;
  /** Without the secrets that the request log masks. */
  readonly data: Recovered<OperationData[Id]>;
  /** Paths within `data` that are missing because the request log masks them: `config.password`. */
  readonly masked: readonly string[];
  /** Its entry in the request log. Absent when the server returned the response that belongs to the key. */
  readonly entry?: RequestLogItem;
}

/** It was not carried out. Making the call again is safe. */
export interface NotCommitted {
  readonly outcome: 'not-committed';
  /** The entry of a refusal in the request log. */
  readonly entry?: RequestLogItem;
  /** The refusal, when the server returned one for the key. */
  readonly error?: ResellerError;
}

/** It cannot be distinguished from identical requests. */
export interface Undecided {
  readonly outcome: 'undecided';
  /** Entries that may be the request's. */
  readonly candidates: readonly RequestLogItem[];
}

export interface ReconcileOptions extends Pick<RequestOptions, 'signal' | 'timeoutMs' | 'maxRetries' | 'headers'> {
  /** Milliseconds after the last attempt from which a request that is not in the log counts as never arrived. Default 15,000. */
  readonly settleMs?: number | undefined;
  /**
   * Whether the request may be sent again with its idempotency key, to a server that honours keys. It takes effect once, even if
   * it never arrived before. With `false`, the request log alone decides. Default true.
   */
  readonly resend?: boolean | undefined;
}

export interface ReconcileParts {
  readonly connection: Connection;
  readonly memory: Memory;
  /**
   * Makes a harmless request, unless a request has had a response since then. The response shows whether the server honours keys, and its
   * entry dates the log.
   */
  readonly makeContact: (since: number) => Promise<void>;
  /** Reads the log, together with all others that wait for it. */
  readonly look: (since: number) => Promise<Look>;
  /** Sends the request again, with the same key and the same order of fields. */
  readonly resend: (prepared: Prepared) => Promise<ApiResponse<never>>;
}

/** The outcome, and the response when the server returned it again. */
export interface Found {
  readonly outcome: Reconciliation;
  readonly repeated?: ApiResponse<never>;
}

const DEFAULT_SETTLE_MS = 15_000;
const FIRST_LOOK_DELAY_MS = 4_000;
/** Factor between two consecutive delays between looks. */
const LOOK_DELAY_FACTOR = 4;
/** An entry that is a little older than it should be may be the request's if the log's clock was set meanwhile. */
const CLOCK_CHANGE_MS = 600_000;

/** @throws ResellerError when the request log cannot be read. */
export async function reconcile(parts: ReconcileParts, request: LostRequest, options: ReconcileOptions = {}): Promise<Found> {
  if (request.found) return { outcome: request.found };
  const { resend = true } = options;
  await parts.makeContact(request.sentAt);
  if (resend && canResend(parts.connection, request)) {
    const found = await reconcileByKey(parts, request, options);
    if (found) return found;
  }
  return reconcileByLog(parts, request, options);
}

function canResend({ keys, clock }: Connection, { sentAt }: LostRequest): boolean {
  return keys.honoured === true && clock.now() - sentAt < keys.lifetimeMs;
}

/** Undefined when the outcome is still unknown. */
async function reconcileByKey(
  { connection: { clock }, memory, resend }: ReconcileParts,
  request: LostRequest,
  { settleMs = DEFAULT_SETTLE_MS, ...options }: ReconcileOptions,
): Promise<Found | undefined> {
  const end = clock.now() + settleMs;
  const prepared = { ...request.prepared, isLost: true, options: { ...request.prepared.options, ...options } };
  for (let retries = 0; ; retries++) {
    try {
      const repeated = await resend(prepared);
      memory.remember(repeated.requestID, clock.now());
      return { ...settled(request, committed(request.prepared.operation, await repeated.toResponse().text())), repeated };
    } catch (error) {
      if (!(error instanceof ResellerError) || options.signal?.aborted) throw error;
      if (!(error instanceof OutcomeUnknownError)) return settled(request, { outcome: 'not-committed', error });
    }
    const delay = backoffMs(retries);
    if (clock.now() + delay >= end) return undefined;
    await clock.sleep(delay, options.signal);
  }
}

async function reconcileByLog(
  parts: ReconcileParts,
  request: LostRequest,
  { settleMs = DEFAULT_SETTLE_MS, signal }: ReconcileOptions,
): Promise<Found> {
  const { clock } = parts.connection;
  const end = request.sentAt + settleMs;
  for (let delay = FIRST_LOOK_DELAY_MS; ; delay *= LOOK_DELAY_FACTOR) {
    signal?.throwIfAborted();
    // A read from before the end of the wait decides nothing, because the request may have arrived since.
    const look = await parts.look(clock.now() >= end ? end : request.sentAt);
    if (request.found) return { outcome: request.found };
    const decided = decide(parts, request, look, look.startedAt >= end);
    if (decided?.outcome === 'undecided') return { outcome: decided };
    if (decided) return settled(request, decided);
    await clock.sleep(Math.min(delay, Math.max(end - clock.now(), 0)), signal);
  }
}

/** The outcome by a look, or undefined if the request may still arrive. `isLast` says that it no longer can. */
function decide({ memory }: ReconcileParts, request: LostRequest, look: Look, isLast: boolean): Reconciliation | undefined {
  const { sure, alike } = candidatesFor(memory, request, look);
  const group = [...memory.open].filter((other) => isAlike(other.prepared, request.prepared));
  const done = withoutRepetitions(sure.filter(({ success }) => success === 1));
  // There are as many entries as identical open requests, so all were carried out, and any assignment is correct.
  const own = done.length === group.length ? done[group.indexOf(request)] : undefined;
  if (own) {
    for (const entry of sure) if (entry.response_body === own.response_body) memory.claimed.add(entry.requestID);
    return committed(request.prepared.operation, own.response_body, own);
  }
  if (done.length > group.length || (isLast && !alike.every(isRefusal))) return { outcome: 'undecided', candidates: alike };
  const [refusal] = sure;
  // With fewer refusals than attempts, an attempt may still be on its way.
  const isRefused = group.length === 1 && sure.length >= request.attempts && sure.every(isRefusal);
  if (!isLast && !isRefused) return undefined;
  for (const entry of sure) memory.claimed.add(entry.requestID);
  return { outcome: 'not-committed', ...(refusal && { entry: refusal }) };
}

/** A repetition with the same key is logged again, with the same response. */
function withoutRepetitions(entries: readonly RequestLogItem[]): readonly RequestLogItem[] {
  return [...new Map(entries.toReversed().map((entry) => [entry.response_body, entry])).values()].toReversed();
}

/** Entries that may be the request's, oldest first: all that are `alike`, and those that are `sure` to be of its time and key. */
function candidatesFor(memory: Memory, request: LostRequest, { entries, clockOffset }: Look): Record<'sure' | 'alike', RequestLogItem[]> {
  const { method, url } = request.prepared;
  const sent = fieldsOf(request.prepared);
  const alike: RequestLogItem[] = [];
  const sure: RequestLogItem[] = [];
  for (const entry of entries) {
    if (entry.requestID === request.after) break;
    if (
      memory.respondedAt.has(entry.requestID) ||
      memory.claimed.has(entry.requestID) ||
      entry.method !== method ||
      !isAt(url, entry.endpoint)
    )
      continue;
    const isOlder = clockOffset === undefined || isBefore(entry, request, clockOffset);
    if (isOlder && clockOffset !== undefined && isBefore(entry, { ...request, sentAt: request.sentAt - CLOCK_CHANGE_MS }, clockOffset))
      continue;
    const body = parseJson(entry.request_body);
    const logged: Field[] = isRecord(body) ? Object.entries(body) : [];
    if (textOf(sorted(logged)) !== textOf(sorted(sent))) continue;
    alike.unshift(entry);
    if (!isOlder && textOf(logged) === textOf(sent)) sure.unshift(entry);
  }
  return { sure, alike };
}

/** Whether the log's path is that of the address. The log may keep it with or without percent-encoding, and without the path of the baseUrl. */
function isAt(url: string, endpoint: string): boolean {
  return endpoint.startsWith('/') && decoded(url).endsWith(decoded(endpoint));
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Whether the entry says that nothing was done. */
function isRefusal({ success, error_type: type }: RequestLogItem): boolean {
  return success !== 1 && type !== 'internal_error';
}

type Field = readonly [name: string, value: unknown];

function fieldsOf({ body }: Prepared): Field[] {
  return [...new URLSearchParams(body ?? '')];
}

function sorted(fields: readonly Field[]): readonly Field[] {
  return fields.toSorted(([one], [other]) => (one < other ? -1 : 1));
}

/** Fields in their order, for comparison. Secrets are masked in the log and count by their names alone. */
function textOf(fields: readonly Field[]): string {
  return JSON.stringify(fields.map(([name, value]) => [name, SECRETS.has(name) || String(value)]));
}

function isAlike(one: Prepared, other: Prepared): boolean {
  return one.url === other.url && textOf(fieldsOf(one)) === textOf(fieldsOf(other));
}

function settled(request: LostRequest, outcome: Reconciliation): Found {
  request.settle(outcome.outcome === 'committed');
  request.found = outcome;
  return { outcome };
}

/** @param envelope JSON text of the response. */
function committed(operation: Operation, envelope: string, entry?: RequestLogItem): Reconciliation {
  if (!isOnce(operation)) throw new Error(`The outcome of ${operation.id} cannot be unknown.`);
  const { data } = JSON.parse(envelope);
  const masked: string[] = [];
  removeMasks(data, '', masked);
  return { outcome: 'committed', operation: operation.id, data, masked, ...(entry && { entry }) };
}

/** Removes masks, which could be mistaken for secrets, and collects their paths. */
function removeMasks(value: unknown, path: string, masked: string[]): void {
  if (typeof value !== 'object' || value === null) return;
  for (const [name, item] of Object.entries(value)) {
    if (SECRETS.has(name) && typeof item === 'string' && MASK.test(item)) {
      masked.push(path + name);
      Reflect.deleteProperty(value, name);
    } else removeMasks(item, `${path}${name}.`, masked);
  }
}

/** `***`, or words in brackets such as `[hidden]`. */
const MASK = /^([*•]+|[[(<].*[\])>])$/;

function isOnce(operation: Operation): operation is Operation & { readonly id: OnceOperation } {
  return operation.effect !== 'read' && !operation.repeatable;
}
