/** A request is sent, sent again where that is harmless, and its answer read. */
import { readAnswer } from './answer.ts';
import type { WithMeta } from './call.ts';
import {
  AbortedError,
  AnswerError,
  ConnectionError,
  OutcomeUnknownError,
  ResellerError,
  SpendRefusedError,
  TimeoutError,
} from './errors.ts';
import type { Client, ClientEvent, LostRequest } from './options.ts';
import type { Prepared, Sender } from './prepare.ts';
import { redact } from './redact.ts';
import { authorise } from './spend.ts';

/** Milliseconds. */
const TIMEOUT = 30_000;
const FIRST_DELAY = 500;
const LONGEST_DELAY = 8_000;
/** A server that wants longer than this is not waited for. */
const LONGEST_RETRY_AFTER = 60_000;

/** Later requests push out the identifiers of earlier ones. */
const MOST_REMEMBERED = 1_000;

/** Errors of the system that tell that a request did not leave. */
const UNSENT = /^(ECONNREFUSED|ConnectionRefused|ENOTFOUND|EAI_AGAIN|UND_ERR_CONNECT_TIMEOUT)$/;

/**
 * The answer of a request.
 *
 * @throws ResellerError
 */
export async function answer<T>(sender: Sender, prepared: Prepared): Promise<WithMeta<T>> {
  const { client, config, recovery } = sender;
  const { facts, options } = prepared;
  if (options.reconcile) await recovery?.before(client);
  try {
    const meta = await repeated(sender, prepared, async (response, attempts) => {
      const read = await readAnswer<T>(response, prepared.failure(attempts));
      remember(client, read.requestID);
      return { ...read, attempts, response };
    });
    // Out of the call's way: what it throws does not undo a purchase.
    queueMicrotask(() => config.onDrift?.(facts.id, meta.data));
    return meta;
  } catch (error) {
    if (!(options.reconcile && recovery && error instanceof OutcomeUnknownError) || options.signal?.aborted) throw error;
    const { body, masked } = await recovery.after(client, error);
    const response = new Response(body, { headers: { 'content-type': 'application/json' } });
    return { ...(await readAnswer<T>(response, prepared.failure(error.attempts))), attempts: error.attempts, response, masked };
  }
}

/** The response of a request, its body unread. */
export function respond(sender: Sender, prepared: Prepared): Promise<Response> {
  return repeated(sender, prepared, async (response) => response);
}

/**
 * Sends a request until it is answered or may not be sent again. Only what is harmless to repeat is repeated: by the
 * document (`x-retry: safe`), or by a key that the server is known to honour.
 */
async function repeated<T>(sender: Sender, prepared: Prepared, read: Read<T>): Promise<T> {
  const { client, config } = sender;
  const { clock, state } = client;
  const { facts, options, method, path, form, failure } = prepared;
  if (config.dryRun && !facts.reads)
    throw new SpendRefusedError(`${facts.id} changes something, and this client is on a dry run.`, failure(0));
  const refund = await authorise(sender, prepared);
  const signature = `${method} ${path} ${prepared.body ?? ''}`;
  const count = (step: number) => void (facts.safe ?? state.open.set(signature, (state.open.get(signature) ?? 0) + step));
  const settle = (committed: boolean) => {
    count(-1);
    if (!committed) refund();
  };
  const request: LostRequest = { operation: facts.id, method, path, form, sentAt: clock.now(), anchor: state.anchor, signature, settle };
  count(1);
  let lost = false;
  for (let attempts = 1; ; attempts++) {
    try {
      const result = await attempt(sender, prepared, attempts, read);
      settle(true);
      return result;
    } catch (error) {
      if (!(error instanceof ResellerError)) throw error;
      remember(client, error.requestID);
      const { uncertain, retryable, retryAfter = 0, status } = error;
      // Once lost, only an answer that speaks of the first sending settles it.
      lost = uncertain || (lost && (status === undefined || status >= 500 || [401, 403, 429].includes(status)));
      const repeatable = facts.safe || (facts.keyed && state.honoured);
      if (
        !repeatable ||
        !retryable ||
        attempts > (options.maxRetries ?? config.maxRetries ?? 2) ||
        retryAfter * 1000 > LONGEST_RETRY_AFTER
      ) {
        if (facts.safe || !lost) {
          settle(false);
          throw error;
        }
        const unknown = new OutcomeUnknownError(
          `${facts.id}: the answer was lost (${error.message}), and it may have been carried out. Do not repeat it: reconcile(error) finds out.`,
          failure(attempts),
          error,
        );
        state.lost.set(unknown, request);
        throw unknown;
      }
      const delay = retryAfter * 1000 || Math.min(LONGEST_DELAY, FIRST_DELAY * 2 ** (attempts - 1)) * (0.5 + Math.random() / 2);
      teller(sender, prepared, attempts)?.({ type: 'retry', error, delay });
      // An abort ends the next attempt before it begins.
      await clock.sleep(delay, options.signal).catch(() => {});
    }
  }
}

type Read<T> = (response: Response, attempts: number) => Promise<T>;

async function attempt<T>(sender: Sender, prepared: Prepared, attempts: number, read: Read<T>): Promise<T> {
  const {
    client: { clock, state },
    config,
  } = sender;
  const { method, url, headers, body, failure, options, facts } = prepared;
  const tell = teller(sender, prepared, attempts);
  const { signal } = options;
  const controller = new AbortController();
  const abort = () => controller.abort(signal?.reason);
  if (signal?.aborted) throw new AbortedError(`${facts.id}: aborted before it was sent.`, failure(attempts - 1), signal.reason);
  let timedOut = false;
  let response: Response | undefined;
  const limit = options.timeoutMs ?? config.timeoutMs ?? TIMEOUT;
  const timer = setTimeout(
    () => {
      timedOut = true;
      controller.abort();
    },
    Math.min(limit, 2 ** 31 - 1),
  );
  signal?.addEventListener('abort', abort);
  const began = clock.now();
  tell?.({ type: 'request', form: redact(prepared.form) });
  try {
    response = await sender.fetch(url, {
      method,
      headers,
      redirect: 'manual',
      signal: controller.signal,
      ...(body === undefined ? {} : { body }),
    });
    if (response.headers.has('idempotency-key-lifetime')) state.honoured ||= config.honoursIdempotencyKey !== false;
    const result = await read(response, attempts);
    tell?.({ type: 'response', status: response.status, milliseconds: clock.now() - began });
    return result;
  } catch (cause) {
    const error = cause instanceof ResellerError ? cause : why(cause);
    tell?.({ type: 'failure', error, milliseconds: clock.now() - began });
    throw error;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
  }

  function why(cause: unknown): ResellerError {
    const about = { ...failure(attempts), uncertain: true, retryable: true };
    if (timedOut) return new TimeoutError(`${facts.id}: no whole answer within ${limit} ms.`, about, cause);
    if (signal?.aborted) return new AbortedError(`${facts.id}: aborted.`, { ...about, retryable: false }, signal.reason);
    const message = String(cause instanceof Error ? (cause.cause ?? cause) : cause);
    if (response) {
      return new AnswerError(
        `${facts.id}: the answer broke off (${message}).`,
        Object.assign(about, { status: response.status, reason: 'cut' }),
        cause,
      );
    }
    return new ConnectionError(
      `${facts.id}: no answer from ${url} (${message}).`,
      { ...about, uncertain: !UNSENT.test(codeOf(cause)) },
      cause,
    );
  }
}

/** The system's name for what went wrong, which `fetch` wraps. */
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return '';
  return 'code' in error ? String(error.code) : codeOf(error.cause);
}

type Told<Event> = Event extends ClientEvent ? Omit<Event, 'operation' | 'attempt' | 'method' | 'url'> : never;

/** What tells `onEvent`; out of the call's way, so that what it throws does not touch the call. */
function teller({ config: { onEvent } }: Sender, { facts, method, url }: Prepared, sending: number) {
  return (
    onEvent && ((what: Told<ClientEvent>) => queueMicrotask(() => onEvent({ operation: facts.id, attempt: sending, method, url, ...what })))
  );
}

/** Keeps the identifier of an answered request: it can be no other request's. */
function remember({ state, clock }: Client, requestID: string | null | undefined): void {
  if (typeof requestID !== 'string') return;
  state.anchor = { requestID, at: clock.now() };
  state.answered.add(requestID);
  if (state.answered.size <= MOST_REMEMBERED) return;
  const [oldest = ''] = state.answered;
  state.answered.delete(oldest);
}
