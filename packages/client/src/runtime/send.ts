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

/** Errors of the system that tell that a request did not leave: codes of Node and Bun, and how Deno words it. */
const UNSENT = /^(econnrefused|connectionrefused|enotfound|eai_again|und_err_connect_timeout)$|client error \(connect\)/i;

/**
 * Sends a request until it is answered or may not be sent again. Only what is harmless to repeat is repeated: by the
 * document (`x-retry: safe`), or by a key that the server is known to honour.
 *
 * @throws OutcomeUnknownError when it may have been carried out and must not be twice.
 * @throws ResellerError of another class when what happened is certain, or does not matter.
 */
export async function send<T>(sender: Sender, prepared: Prepared, read: Read<T>): Promise<T> {
  const { clock, config, extras } = sender;
  const { flags, options, url, init, fail } = prepared;
  const { signal, timeoutMs = config.timeoutMs ?? 30_000, maxRetries = config.maxRetries ?? 2 } = options;
  const safe = /s/.test(flags);
  let lost = false;
  for (;;) {
    const controller = new AbortController();
    const abort = () => controller.abort();
    const timer = setTimeout(abort, Math.min(timeoutMs, 2 ** 31 - 1));
    signal?.addEventListener('abort', abort);
    const unknown = { uncertain: false, retryable: true };
    let response: Response | undefined;
    let error;
    try {
      signal?.throwIfAborted();
      prepared.attempts++;
      unknown.uncertain = true;
      extras?.tell(prepared, { type: 'request' });
      response = await sender.fetch(url, { ...init, signal: controller.signal });
      const { status, headers } = response;
      sender.honoured ??= headers.has('idempotency-key-lifetime') || undefined;
      const result = await read(response, prepared);
      extras?.tell(prepared, { type: 'response', status });
      return result;
    } catch (cause) {
      // `fetch` wraps what the system says.
      let root = Object(cause);
      while (root.cause) root = root.cause;
      error =
        cause instanceof ResellerError
          ? cause
          : signal?.aborted
            ? fail(AbortedError, 'aborted', { ...unknown, retryable: false }, signal.reason)
            : controller.signal.aborted
              ? fail(TimeoutError, `no whole answer within ${timeoutMs} ms`, unknown, cause)
              : response
                ? fail(AnswerError, `the answer broke off: ${root}`, { ...unknown, status: response.status, reason: 'cut' }, cause)
                : fail(
                    ConnectionError,
                    `no answer from ${url}: ${root}`,
                    { ...unknown, uncertain: !UNSENT.test(root.code ?? root.message) },
                    cause,
                  );
      extras?.tell(prepared, { type: 'failure', error });
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
    }
    const { attempts } = prepared;
    const { uncertain, retryable, retryAfter = 0, status = 500, message } = error;
    // Once lost, only an answer that speaks of the first sending settles it.
    lost = uncertain || (lost && (status > 499 || [401, 403, 429].includes(status)));
    const delay = retryAfter * 1000 || Math.min(8_000, 250 * 2 ** attempts) * (0.5 + Math.random() / 2);
    if (!(retryable && (safe || (/k/.test(flags) && sender.honoured))) || attempts > maxRetries || delay > LONGEST_RETRY_AFTER)
      throw safe || !lost ? error : fail(OutcomeUnknownError, `the outcome is unknown, see reconcile(error). ${message}`, {}, error);
    extras?.tell(prepared, { type: 'retry', error, delay });
    // An abort ends the next attempt before it begins.
    await clock.sleep(delay, signal);
  }
}
