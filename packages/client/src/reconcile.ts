/** What became of a request whose answer was lost, by the request log (specification: "Request log item"). */
import { SECRETS } from './generated/facts.gen.ts';
import type { OnceAnswers } from './generated/operations.gen.ts';
import type { RequestLogItem } from './generated/types.gen.ts';
import { eachRequest } from './request-log.ts';
import { ResellerError } from './runtime/errors.ts';
import type { OutcomeUnknownError } from './runtime/errors.ts';
import type { CallOptions } from './runtime/options.ts';
import type { Prepared } from './runtime/prepare.ts';
import type { Recovered } from './runtime/recovered.ts';
import type { LostRequest, Memory } from './tracking.ts';

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

/**
 * Searches the request log for what became of the request whose answer was lost. It is found by path, parameters, their
 * order and time, and requests of this client whose answers came are left out. What cannot be told from it makes it
 * `undecided`. Until it is found, the log is read again and again, up to `settleMs`.
 *
 * @throws TypeError when the error is not of this client.
 * @throws ResellerError when the log cannot be read.
 */
export async function reconcile(memory: Memory, error: OutcomeUnknownError, options: ReconcileOptions = {}): Promise<Reconciliation> {
  const { clock } = memory;
  const request = memory.lost.get(error);
  if (!request) throw new TypeError('This error was not thrown by this client. Give it to the one that made the call.');
  const { plan, init } = request;
  const { settleMs = 15_000, ...callOptions } = options;
  const end = request.sentAt + settleMs;
  // In milliseconds.
  for (let wait = 250; !request.found; wait *= 2) {
    const isLast = clock.now() >= end;
    const { sure, all } = await search(memory, request, callOptions);
    // A repetition with the same key is logged again, with the same answer; the oldest entry is the original.
    const done = [...new Map(sure.filter(({ success }) => success === 1).map((entry) => [entry.response_body, entry])).values()];
    const refused = sure.filter(isRefusal);
    const isAlone = ![...memory.open].some((other) => other !== request && other.plan.url === plan.url && other.init.body === init.body);
    const [committed] = done;
    if (committed ? !isAlone || done.length > 1 : isLast && !all.every(isRefusal)) return { outcome: 'undecided', candidates: all };
    // Fewer refusals than sendings: one of them may still be on its way.
    if (isLast || committed || (isAlone && refused.length >= request.attempts)) {
      for (const { requestID } of sure) memory.answered.add(requestID);
      request.settle(!!committed);
      request.found =
        committed && isOnce(plan.operation)
          ? told(plan.operation, committed)
          : { outcome: 'not-committed', ...(refused[0] && { entry: refused[0] }) };
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
 * The entries that may be the request's: `all` that say the same, also where the log's clock may have been set, and of them those
 * that are `sure` to be of its time and hold its fields in its order.
 */
async function search(
  { clock, log, answered }: Memory,
  { anchor, sentAt, path, init }: LostRequest,
  options: CallOptions,
): Promise<Record<'sure' | 'all', RequestLogItem[]>> {
  // Milliseconds: clocks that were compared over a network, and logs that write whole seconds.
  const slack = 1_000;
  // How far back a request is looked for whose clock was set while it was under way.
  const grey = 600_000;
  const sent = fieldsOf(new URLSearchParams(String(init.body ?? '')));
  const all: RequestLogItem[] = [];
  const inOrder: RequestLogItem[] = [];
  let since = Infinity;
  // Without an anchor, the entry of this look tells the next one what time the log has.
  if (!anchor) await log(undefined, options);
  for await (const entry of eachRequest(log, options)) {
    const { requestID, endpoint } = entry;
    const date = Date.parse(entry.requestDate);
    if (requestID === anchor?.requestID) {
      since = date + sentAt - anchor.at - slack;
      break;
    }
    if (!anchor) {
      if (since === Infinity) since = date - Math.max(0, clock.now() - sentAt) - slack;
      if (date < since - grey) break;
    }
    if (answered.has(requestID) || entry.method !== init.method || !endpoint.endsWith(path)) continue;
    const logged = fieldsOf(entriesOf(entry.request_body));
    if (logged.toSorted().join() === sent.toSorted().join()) all.push(entry);
    if (logged.join() === sent.join()) inOrder.push(entry);
  }
  return { sure: inOrder.filter(({ requestDate }) => Date.parse(requestDate) >= since), all };
}

/** Fields as text, without secrets: those are logged masked. A comma within is escaped, so that joined they say the same. */
function fieldsOf(fields: Iterable<[string, unknown]>): string[] {
  return [...fields].map(([name, value]) => `${name}=${SECRETS.has(name) ? '' : encodeURIComponent(String(value))}`);
}

function entriesOf(json: string): [string, unknown][] {
  try {
    return Object.entries(JSON.parse(json));
  } catch {
    return [];
  }
}

/** What `reconcile: true` does: the answer as it was logged, without what is masked, or what the call is to throw. */
export async function recover(
  memory: Memory,
  error: OutcomeUnknownError,
  { fail }: Prepared,
): Promise<{ readonly body: string; readonly masked: readonly string[] }> {
  const { cause } = error;
  const found = await reconcile(memory, error);
  if (found.outcome === 'undecided') throw error;
  if (!found.entry) throw Object.assign(Object(cause), { uncertain: false });
  const { requestID, error_type: type, response_body: body } = found.entry;
  const envelope = JSON.parse(body);
  if (found.outcome === 'committed') return { body: JSON.stringify({ ...envelope, data: found.data }), masked: found.masked };
  throw fail(ResellerError, envelope.message, { requestID, type: String(type) }, error);
}
