/** A request is sent, sent again where that is harmless, and its answer read. */
import { AbortedError, AnswerError, ConnectionError, ResellerError, TimeoutError } from './errors.ts';
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

/** Errors of the system that tell that a request did not leave: codes of Node and Bun, and how Deno words it. */
const UNSENT = /^\w*(refused|notfound|eai_again|connect_timeout)$|client error \(connect\)/i;

/**
 * Sends a request until it is answered or may not be sent again. Only what is harmless to repeat is repeated: by the
 * document (`x-retry: safe`), or by a key that the server is known to honour.
 *
 * @throws OutcomeUnknownError when it may have been carried out and must not be twice.
 * @throws ResellerError of another class when what happened is certain, or does not matter.
 */
export async function send<T>(sender: Sender, prepared: Prepared, read: Read<T>): Promise<T> {
  // Milliseconds; a server that asks for a longer pause is not waited for.
  const longestPause = 60_000;
  const { clock, config, extras } = sender;
  const { plan, flags, options, init, fail } = prepared;
  const { signal, timeoutMs = config.timeoutMs ?? 30_000, maxRetries = config.maxRetries ?? 2 } = options;
  for (;;) {
    const timeout = new AbortController();
    const timer = setTimeout(() => timeout.abort(), Math.min(timeoutMs, 2 ** 31 - 1));
    const { attempts } = prepared;
    let response: Response | undefined;
    let error;
    try {
      signal?.throwIfAborted();
      prepared.attempts++;
      extras?.tell(prepared, { type: 'request' });
      response = await sender.fetch(plan.url, { ...init, signal: signal ? AbortSignal.any([signal, timeout.signal]) : timeout.signal });
      sender.honoured ??= response.headers.has('idempotency-key-lifetime') || undefined;
      const result = await read(response, prepared);
      extras?.tell(prepared, { type: 'response', status: response.status });
      return result;
    } catch (cause) {
      // `fetch` wraps what the system says.
      let root = Object(cause);
      while (root.cause) root = root.cause;
      const about = { uncertain: prepared.attempts > attempts, retryable: !signal?.aborted };
      error =
        cause instanceof ResellerError
          ? cause
          : signal?.aborted
            ? fail(AbortedError, 'aborted', about, signal.reason)
            : timeout.signal.aborted
              ? fail(TimeoutError, `no whole answer within ${timeoutMs} ms`, about, cause)
              : response
                ? fail(AnswerError, `the answer broke off: ${root}`, { ...about, status: response.status, reason: 'cut' }, cause)
                : fail(
                    ConnectionError,
                    `no answer from ${plan.url}: ${root}`,
                    { ...about, uncertain: !UNSENT.test(root.code ?? root.message) },
                    cause,
                  );
      extras?.tell(prepared, { type: 'failure', error });
    } finally {
      clearTimeout(timer);
    }
    const { retryable, retryAfter = 0 } = error;
    const last = prepared.written?.outcome(prepared, error) ?? error;
    const delay = retryAfter * 1000 || Math.min(4_000, 250 * 2 ** attempts) * (1 + Math.random());
    if (!retryable || !(/s/.test(flags) || sender.honoured) || attempts >= maxRetries || delay > longestPause) throw last;
    extras?.tell(prepared, { type: 'retry', error, delay });
    // An abort ends the next attempt before it begins.
    await clock.sleep(delay, signal);
  }
}
