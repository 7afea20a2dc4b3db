/** A request is sent, sent again where that is harmless, and its answer read. */
import { AbortedError, AnswerError, ConnectionError, OutcomeUnknownError, ResellerError, TimeoutError } from './errors.ts';
import type { Client, CoreConfig, Extras, Fetch, Send } from './options.ts';
import type { Prepared } from './prepare.ts';

/** A client from the inside. */
export interface Sender extends Client {
  method(name: string): Send;
  readonly config: CoreConfig;
  extras?: Extras;
  readonly fetch: Fetch;
  /** Whether the server is known to honour `Idempotency-Key`. */
  honoured: boolean | undefined;
}

/** What is made of a response. */
export type Read<T> = (response: Response, prepared: Prepared) => Promise<T>;

/** Milliseconds; a server that asks for a longer pause is not waited for. */
const LONGEST_RETRY_AFTER = 60_000;

/** Errors of the system that tell that a request did not leave. */
const UNSENT = /^(ECONNREFUSED|ConnectionRefused|ENOTFOUND|EAI_AGAIN|UND_ERR_CONNECT_TIMEOUT)$/;

/**
 * Sends a request until it is answered or may not be sent again. Only what is harmless to repeat is repeated: by the
 * document (`x-retry: safe`), or by a key that the server is known to honour.
 *
 * @throws OutcomeUnknownError when it may have been carried out and must not be twice.
 * @throws ResellerError of another class when what happened is certain, or does not matter.
 */
export async function send<T>(sender: Sender, prepared: Prepared, read: Read<T>): Promise<T> {
  const { clock, config, extras } = sender;
  const { flags, options, fail } = prepared;
  const safe = /s/.test(flags);
  let lost = false;
  for (;;) {
    try {
      return await attempt(sender, prepared, read);
    } catch (error) {
      if (!(error instanceof ResellerError)) throw error;
      const { attempts } = prepared;
      const { uncertain, retryable, retryAfter = 0, status = 500, message } = error;
      // Once lost, only an answer that speaks of the first sending settles it.
      lost = uncertain || (lost && (status > 499 || [401, 403, 429].includes(status)));
      const delay = retryAfter * 1000 || Math.min(8_000, 250 * 2 ** attempts) * (0.5 + Math.random() / 2);
      if (
        !(retryable && (safe || (/k/.test(flags) && sender.honoured))) ||
        attempts > (options.maxRetries ?? config.maxRetries ?? 2) ||
        delay > LONGEST_RETRY_AFTER
      )
        throw safe || !lost ? error : fail(OutcomeUnknownError, `the outcome is unknown, see reconcile(error). ${message}`, {}, error);
      extras?.tell(prepared, { type: 'retry', error, delay });
      // An abort ends the next attempt before it begins.
      await clock.sleep(delay, options.signal);
    }
  }
}

async function attempt<T>(sender: Sender, prepared: Prepared, read: Read<T>): Promise<T> {
  const { config, extras } = sender;
  const { url, init, fail, options } = prepared;
  const { signal, timeoutMs = config.timeoutMs ?? 30_000 } = options;
  if (signal?.aborted) throw fail(AbortedError, 'aborted', {}, signal.reason);
  const controller = new AbortController();
  const abort = () => controller.abort();
  const timer = setTimeout(abort, Math.min(timeoutMs, 2 ** 31 - 1));
  signal?.addEventListener('abort', abort);
  let response: Response | undefined;
  prepared.attempts++;
  extras?.tell(prepared, { type: 'request' });
  try {
    response = await sender.fetch(url, { ...init, signal: controller.signal });
    sender.honoured ??= response.headers.has('idempotency-key-lifetime') || undefined;
    const result = await read(response, prepared);
    extras?.tell(prepared, { type: 'response', status: response.status });
    return result;
  } catch (cause) {
    let error;
    if (cause instanceof ResellerError) error = cause;
    else if (signal?.aborted) error = fail(AbortedError, 'aborted', { uncertain: true }, signal.reason);
    else {
      // `fetch` wraps what the system says.
      let root = Object(cause);
      while (root.cause) root = root.cause;
      const unknown = { uncertain: true, retryable: true };
      error = controller.signal.aborted
        ? fail(TimeoutError, `no whole answer within ${timeoutMs} ms`, unknown, cause)
        : response
          ? fail(AnswerError, `the answer broke off: ${root}`, { ...unknown, status: response.status, reason: 'cut' }, cause)
          : fail(ConnectionError, `no answer from ${url}: ${root}`, { ...unknown, uncertain: !UNSENT.test(root.code) }, cause);
    }
    extras?.tell(prepared, { type: 'failure', error });
    throw error;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
  }
}
