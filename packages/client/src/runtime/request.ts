/** A request: checked and written before anything is sent, then sent, and sent again where that is harmless. */
import { API_KEY_HEADER, VERSION } from '../generated/facts.gen.ts';
import type { FieldError } from '../generated/types.gen.ts';
import { AbortedError, AnswerError, ConnectionError, InvalidError, OutcomeUnknownError, ResellerError, TimeoutError } from './errors.ts';
import type { Details, ErrorClass } from './errors.ts';
import type { Refuse } from './form.ts';
import type { Client, DryRun, Flag, RequestOptions, Told } from './options.ts';

/** A request before it is sent. */
export interface Prepared {
  readonly plan: DryRun;
  /** Whether the document says so of the operation. */
  readonly is: (flag: Flag) => boolean;
  readonly options: RequestOptions;
  /** Its `Idempotency-Key`; empty where it takes none. */
  readonly key: string;
  /** Its form, a text for each field; the order may be changed as long as nothing is sent. */
  readonly sent: string[];
  /** An error that tells of the request; a secret is in none of it. */
  readonly fail: Fail;
  /**
   * Sends it until it is answered or may not be sent again. Only what is harmless to repeat is repeated: by the document
   * (`x-retry: safe`), or by a key that the server is known to honour.
   *
   * @param read What is made of a response.
   * @param tell Hears what happens, and how often it was sent.
   * @throws OutcomeUnknownError when it may have been carried out and must not be twice.
   * @throws ResellerError of another class when what happened is certain, or does not matter.
   */
  send<T>(read: Read<T>, tell?: (what: Told, attempt: number) => void): Promise<T>;
}

/** Makes an error of a class. */
export type Fail = <E extends ResellerError>(Class: ErrorClass<E>, message: string, more?: Partial<Details>, cause?: unknown) => E;

/** What is made of a response. */
export type Read<T> = (response: Response, fail: Fail, attempts: number) => Promise<T>;

const KEY_HEADER = 'Idempotency-Key';

/** @throws InvalidError naming every field that breaks a rule. */
export const prepare = (client: Client, method: string, options: RequestOptions): Prepared => {
  const { base, clock, fetch } = client;
  const config = client.config();
  const { apiKey, appInfo } = config;
  const { meta = '', path = {}, body = {}, signal, timeoutMs = config.timeoutMs ?? 30_000, maxRetries = config.maxRetries ?? 2 } = options;
  // Milliseconds; a server that asks for a longer pause is not waited for.
  const longestPause = 60_000;
  const [operation = '', flags = ''] = meta.split(' ');
  const is = (flag: Flag) => flags.includes(flag);
  const fields: FieldError[] = [];
  const refuse: Refuse = (field, rule, message = rule) => void fields.push({ field, rule, message });
  const url = base + (options.fill?.(options.url, path, refuse) ?? options.url);
  const { form = {}, sent = [], shown = [] } = options.write?.(meta, body, refuse) ?? {};
  const key = is('k') ? encodeURIComponent(options.idempotencyKey ?? crypto.randomUUID()) : '';
  const curl =
    `curl -X ${method} '${url}' -H "${API_KEY_HEADER}: $API_KEY"` +
    (key && ` -H "${KEY_HEADER}: ${key}"`) +
    (sent[0] ? ` -d '${shown.join('&')}'` : '');
  let attempts = 0;
  let isLost: boolean | undefined;
  const fail: Fail = (Class, message, more, cause) =>
    Object.assign(new Class(`${operation}: ${message}${attempts ? '' : '. Nothing was sent.'}`, { cause }), {
      operation,
      attempts,
      curl,
      ...more,
    });
  const [first] = fields;
  if (first) throw fail(InvalidError, `${first.field} is ${first.message}`, { fields });
  return {
    plan: { operation, billable: is('b'), method, url, form, curl },
    is,
    options,
    key,
    sent,
    fail,
    async send(read, tell) {
      for (;;) {
        const timeout = new AbortController();
        const timer = setTimeout(() => timeout.abort(), Math.min(timeoutMs, 2 ** 31 - 1));
        const before = attempts;
        let response: Response | undefined;
        let error;
        try {
          signal?.throwIfAborted();
          attempts++;
          tell?.({ type: 'request' }, attempts);
          response = await fetch(url, {
            method,
            redirect: 'manual',
            body: sent.join('&') || null,
            headers: {
              'user-agent': `reseller-client/${VERSION}${appInfo ? ` ${appInfo.name}/${appInfo.version} (${appInfo.url})` : ''}`,
              [API_KEY_HEADER]: apiKey,
              ...(key && { [KEY_HEADER]: key }),
              ...options.headers,
            },
            signal: signal ? AbortSignal.any([signal, timeout.signal]) : timeout.signal,
          });
          if (response.headers.has('idempotency-key-lifetime')) client.honoured ??= true;
          const result = await read(response, fail, attempts);
          tell?.({ type: 'response', status: response.status }, attempts);
          return result;
        } catch (cause) {
          // `fetch` wraps what the system says.
          let root = Object(cause);
          while (root.cause) root = root.cause;
          const isAborted = signal?.aborted;
          const [Class, message]: [ErrorClass<ResellerError>, string] = isAborted
            ? [AbortedError, 'aborted']
            : timeout.signal.aborted
              ? [TimeoutError, `no answer within ${timeoutMs} ms`]
              : response
                ? [AnswerError, `the answer broke off: ${root}`]
                : [ConnectionError, `no answer from ${url}: ${root}`];
          error =
            cause instanceof ResellerError
              ? cause
              : fail(
                  Class,
                  message,
                  {
                    status: response?.status,
                    reason: response && 'cut',
                    // Unless the system tells that it did not leave: codes of Node and Bun, and how Deno words it.
                    uncertain:
                      attempts > before &&
                      !/^\w*(refused|notfound|eai_again|connect_timeout)$|\(connect\)/i.test(root.code ?? root.message),
                    retryable: !isAborted,
                  },
                  cause,
                );
        } finally {
          clearTimeout(timer);
        }
        const { status = 500, uncertain, retryable, retryAfter = 0 } = error;
        // Once lost, only an answer that speaks of the first sending settles it.
        isLost = uncertain || (isLost && /5..|40[13]|429/.test(`${status}`));
        const delay = Math.max(retryAfter * 1000, 0) || Math.min(4_000, 250 * 2 ** before) * (1 + Math.random());
        const isLast = !retryable || !(is('s') || client.honoured) || before >= maxRetries || delay > longestPause;
        tell?.({ type: 'failure', error, delay: isLast ? undefined : delay }, attempts);
        if (isLast)
          throw isLost && !is('s')
            ? fail(OutcomeUnknownError, `outcome unknown, see reconcile(error). ${error.message}`, {}, error)
            : error;
        // An abort ends the next attempt before it begins.
        await clock.sleep(delay, signal);
      }
    },
  };
};
