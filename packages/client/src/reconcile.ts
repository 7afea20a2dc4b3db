/** What became of a request whose answer was lost, by the request log (specification: "Request log item"). */
import { SECRETS } from './generated/facts.gen.ts';
import type { OnceAnswers } from './generated/operations.gen.ts';
import type { RequestLogItem } from './generated/types.gen.ts';
import type { Memory } from './purchases.ts';
import { parseJson } from './runtime/json.ts';
import { ResellerError } from './runtime/errors.ts';
import type { OutcomeUnknownError } from './runtime/errors.ts';
import type { CallOptions, DryRun } from './runtime/options.ts';
import type { Recovered } from './runtime/recovered.ts';
import type { Fail } from './runtime/request.ts';

/** What became of a request. `operation` tells which type `data` has. */
export type Reconciliation =
  | { readonly [Id in keyof OnceAnswers]: Committed<Id, OnceAnswers[Id]> }[keyof OnceAnswers]
  | NotCommitted
  | Undecided;

/** It was carried out. */
export interface Committed<Id extends string, Data> {
  readonly outcome: 'committed';
  readonly operation: Id;
  /** The original answer's `data`, without what the log masks. */
  readonly data: Recovered<Data>;
  /** Paths within `data` that the log masks: `config.password`. */
  readonly masked: readonly string[];
  readonly entry: RequestLogItem;
}

/** It was not carried out: it may be made again. */
export interface NotCommitted {
  readonly outcome: 'not-committed';
  /** The refusal, where the request arrived. */
  readonly entry?: RequestLogItem;
}

/** It cannot be told from others like it; look at the candidates. */
export interface Undecided {
  readonly outcome: 'undecided';
  readonly candidates: readonly RequestLogItem[];
}

/** How long to look. */
export interface ReconcileOptions extends CallOptions {
  /** Milliseconds from its sending after which a request that is not in the log counts as never arrived; 15,000 where it is left out. */
  settleMs?: number;
}

/** A request whose outcome is not known. */
export interface LostRequest {
  readonly plan: DryRun;
  /** Its form, in the order in which it was sent. */
  readonly fields: readonly Field[];
  /** By the client's clock. */
  readonly sentAt: number;
  /** A request that was answered before this one was sent. */
  readonly after: string | undefined;
  /** Takes it out of the requests without a known outcome, and gives its price back where it had no effect. */
  settle(committed: boolean): void;
  /** What was decided stays so. */
  found?: Reconciliation;
}

type Field = [name: string, value: unknown];

/**
 * Searches the request log for what became of the request whose answer was lost. It is found by path, parameters, their
 * order and time, and requests of this client whose answers came are left out. What cannot be told from it makes it
 * `undecided`. Until it is found, the log is read again and again, up to `settleMs`.
 *
 * @throws ResellerError when the log cannot be read.
 */
export async function reconcile(
  memory: Memory,
  request: LostRequest,
  { attempts }: OutcomeUnknownError,
  { settleMs = 15_000, ...options }: ReconcileOptions = {},
): Promise<Reconciliation> {
  const { clock, answered, open } = memory;
  const { plan, sentAt, settle } = request;
  const end = sentAt + settleMs;
  // In milliseconds.
  for (let wait = 250; !request.found; wait *= 2) {
    const isLast = clock.now() >= end;
    const { sure, all } = await search(memory, request, options);
    // A repetition with the same key is logged again, with the same answer; the oldest entry is the original.
    const [done, ...others] = sure.filter(({ success }) => success === 1);
    const isAlone = ![...open].some(
      (other) => other !== request && other.plan.url === plan.url && textOf(other.fields) === textOf(request.fields),
    );
    if (done ? !isAlone || others.some(({ response_body: body }) => body !== done.response_body) : isLast && !all.every(isRefusal))
      return { outcome: 'undecided', candidates: all };
    // Fewer refusals than sendings: one of them may still be on its way.
    if (done || isLast || (isAlone && sure.length >= attempts && sure.every(isRefusal))) {
      for (const { requestID } of sure) answered.add(requestID);
      settle(!!done);
      const [entry] = sure;
      request.found = done && isOnce(plan.operation) ? told(plan.operation, done) : { outcome: 'not-committed', ...(entry && { entry }) };
    } else {
      await clock.sleep(Math.min(wait, end - clock.now()), options.signal);
      options.signal?.throwIfAborted();
    }
  }
  return request.found;
}

/** Whether an entry tells that nothing was done: whosever request it is. */
function isRefusal({ success, error_type: type }: RequestLogItem): boolean {
  return success !== 1 && type !== 'internal_error';
}

/** The outcome of no other operation is ever unknown. */
function isOnce(operation: string): operation is keyof OnceAnswers {
  return !!operation;
}

function told(operation: keyof OnceAnswers, entry: RequestLogItem): Reconciliation {
  const { data } = JSON.parse(entry.response_body);
  const masked = dropMasked(data, '');
  return { outcome: 'committed', operation, data, masked, entry };
}

/** Takes the secrets that are masked out of a value; a mask in their place would pass for one. */
function dropMasked(value: Record<string, unknown>, path: string): string[] {
  return Object.entries(Object(value)).flatMap(([name, item]) => {
    // `***`, or words in brackets such as `[hidden]`.
    if (SECRETS.has(name) && /^([*•]+|[[(<].*[\])>])$/.test(String(item))) {
      delete value[name];
      return [path + name];
    }
    return typeof item === 'object' ? dropMasked(Object(item), `${path}${name}.`) : [];
  });
}

/**
 * The entries that may be the request's, oldest first: `all` that say the same, also where the log's clock may have been set, and of them
 * those that are `sure` to be of its time and hold its fields in its order.
 */
async function search(
  { clock, log, answered }: Memory,
  { plan, fields, sentAt, after }: LostRequest,
  options: CallOptions,
): Promise<Record<'sure' | 'all', RequestLogItem[]>> {
  // Milliseconds: clocks that were compared over a network, and logs that write whole seconds.
  const slack = 1_000;
  // How far back a request is looked for whose clock was set while it was under way.
  const grey = 600_000;
  const all: RequestLogItem[] = [];
  const sure: RequestLogItem[] = [];
  const [sent, sorted] = [textOf(fields), textOf(fields.toSorted())];
  let since: number | undefined;
  // The entry of this look tells the next one what time the log has.
  await log.requests(undefined, options);
  for await (const entry of log.allRequests(options)) {
    const date = Date.parse(entry.requestDate);
    since ??= date - Math.max(0, clock.now() - sentAt) - slack;
    if (date < since - grey || entry.requestID === after) break;
    if (answered.has(entry.requestID) || entry.method !== plan.method || !plan.url.endsWith(entry.endpoint)) continue;
    const logged: Field[] = Object.entries(Object(parseJson(entry.request_body)));
    if (textOf(logged.toSorted()) === sorted) all.unshift(entry);
    if (textOf(logged) === sent && date >= since) sure.unshift(entry);
  }
  return { sure, all };
}

/** Fields in their order, to be compared; secrets are logged masked, and count by their names. */
function textOf(fields: readonly Field[]): string {
  return JSON.stringify(fields.map(([name, value]) => [name, SECRETS.has(name) || String(value)]));
}

/**
 * What `reconcile: true` does: the answer as it was logged, without what is masked.
 *
 * @throws ResellerError when it was not carried out, or cannot be told.
 */
export function recover(
  found: Reconciliation,
  error: OutcomeUnknownError,
  fail: Fail,
): { readonly answer: Response; readonly masked: readonly string[] } {
  if (found.outcome === 'undecided') throw error;
  if (!found.entry) throw Object.assign(Object(error.cause), { uncertain: false });
  const { requestID, error_type: type, response_body: body } = found.entry;
  const envelope = JSON.parse(body);
  if (found.outcome === 'committed') return { answer: Response.json({ ...envelope, data: found.data }), masked: found.masked };
  throw fail(ResellerError, envelope.message, { requestID, type: String(type) }, error);
}
