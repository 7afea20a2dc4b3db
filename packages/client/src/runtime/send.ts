/** A request is sent, sent again where that is harmless, and its answer read. */
import { AbortedError, AnswerError, ConnectionError, OutcomeUnknownError, ResellerError, TimeoutError } from './errors.ts';
import type { Client, CoreConfig, Extras, Fetch } from './options.ts';
import type { Prepared } from './prepare.ts';

/** A client from the inside. */
export interface Sender {
  readonly client: Client;
  readonly config: CoreConfig;
  readonly extras: Extras | undefined;
  readonly fetch: Fetch;
  /** Whether the server is known to honour `Idempotency-Key`. */
  honoured: boolean | undefined;
}

/** What is made of a response. */
export type Read<T> = (response: Response, attempts: number) => Promise<T>;

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
  const { client, config } = sender;
  const { facts, options, failure } = prepared;
  let lost = false;
  for (let attempts = 1; ; attempts++) {
    try {
      return await attempt(sender, prepared, attempts, read);
    } catch (error) {
      if (!(error instanceof ResellerError)) throw error;
      const { uncertain, retryable, retryAfter = 0, status = 500, message } = error;
      // Once lost, only an answer that speaks of the first sending settles it.
      lost = uncertain || (lost && (status > 499 || [401, 403, 429].includes(status)));
      const pause = retryAfter * 1000 || Math.min(8_000, 500 * 2 ** (attempts - 1)) * (0.5 + Math.random() / 2);
      const again = retryable && (facts.safe || (facts.keyed && sender.honoured));
      if (!again || attempts > (options.maxRetries ?? config.maxRetries ?? 2) || pause > LONGEST_RETRY_AFTER) {
        if (facts.safe || !lost) throw error;
        throw new OutcomeUnknownError(`The outcome is unknown, see reconcile(error): ${message}`, failure(attempts), error);
      }
      sender.extras?.tell(prepared, attempts, { type: 'retry', error, delay: pause });
      // An abort ends the next attempt before it begins.
      await client.clock.sleep(pause, options.signal);
    }
  }
}

async function attempt<T>(sender: Sender, prepared: Prepared, attempts: number, read: Read<T>): Promise<T> {
  const { config, extras } = sender;
  const { url, init, failure, options, facts } = prepared;
  const { signal, timeoutMs = config.timeoutMs ?? 30_000 } = options;
  const fail = <E extends ResellerError>(
    Class: new (...input: ConstructorParameters<typeof ResellerError>) => E,
    message: string,
    cause: unknown,
    more: object = {},
  ): E => new Class(`${facts.id}: ${message}`, { ...failure(attempts), uncertain: true, retryable: true, ...more }, cause);
  if (signal?.aborted)
    throw fail(AbortedError, 'aborted before it was sent', signal.reason, { attempts: attempts - 1, uncertain: false, retryable: false });
  const controller = new AbortController();
  const abort = () => controller.abort();
  const timer = setTimeout(abort, Math.min(timeoutMs, 2 ** 31 - 1));
  signal?.addEventListener('abort', abort);
  let response: Response | undefined;
  extras?.tell(prepared, attempts, { type: 'request' });
  try {
    response = await sender.fetch(url, { ...init, signal: controller.signal });
    sender.honoured ??= response.headers.has('idempotency-key-lifetime') || undefined;
    const result = await read(response, attempts);
    extras?.tell(prepared, attempts, { type: 'response', status: response.status });
    return result;
  } catch (cause) {
    const why = String(cause instanceof Error ? (cause.cause ?? cause) : cause);
    const error =
      cause instanceof ResellerError
        ? cause
        : signal?.aborted
          ? fail(AbortedError, 'aborted', signal.reason, { retryable: false })
          : controller.signal.aborted
            ? fail(TimeoutError, `no whole answer within ${timeoutMs} ms`, cause)
            : response
              ? fail(AnswerError, `the answer broke off: ${why}`, cause, { status: response.status, reason: 'cut' })
              : fail(ConnectionError, `no answer from ${url}: ${why}`, cause, { uncertain: !UNSENT.test(codeOf(cause)) });
    extras?.tell(prepared, attempts, { type: 'failure', error });
    throw error;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
  }
}

/** The system's name for what went wrong, which `fetch` wraps. */
function codeOf(error: unknown): string {
  const { code, cause }: { code?: unknown; cause?: unknown } = Object(error);
  return cause ? codeOf(cause) : String(code);
}
