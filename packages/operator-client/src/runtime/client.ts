/** The runtime of the generated functions. Sending, timeouts, retries and errors are those of `@reseller/client`. */
import {
  AbortedError,
  AnswerError,
  ConnectionError,
  isTransient,
  parseJson,
  retryAfterMs,
  retryDelayMs,
  rootCause,
  sendOnce,
  sleep,
  TimeoutError,
} from '@reseller/client/runtime';
import type { Attempt, ErrorClass, Fetch, Received, ResellerError, Unanswered } from '@reseller/client/runtime';

import { problemWithoutBody } from './problem.ts';

/** An operation's input, as the generated code passes it. */
export interface TDataShape {
  body?: unknown;
  headers?: unknown;
  path?: unknown;
  query?: unknown;
  url: string;
}

/** Where and how a client sends its requests. */
export interface ClientOptions {
  /** Base address, with or without a trailing slash. */
  baseUrl?: string;
}

export type Config<T extends ClientOptions = ClientOptions> = Omit<T, 'baseUrl'> &
  SendOptions & {
    baseUrl?: string;
    /** The operator token, or a verifier's, which serves for `verifyOtp` alone. */
    token?: string;
    /** Replaces the global `fetch`. */
    fetch?: typeof fetch;
  };

export interface SendOptions {
  /** Milliseconds that one sending may take, including its response. Default 30,000. */
  timeoutMs?: number;
  /** How many times a read is sent again. Default 2. */
  maxRetries?: number;
}

/** Values that travel with one call and are not sent. */
// oxlint-disable-next-line typescript/no-empty-interface -- users extend it by declaration merging
export interface ClientMeta {}

/** Input of a generated function, and how to send this one request. */
export type Options<TData extends TDataShape = TDataShape, _ThrowOnError extends boolean = boolean, _TResponse = unknown> = Omit<
  TData,
  'url'
> &
  SendOptions & {
    /** Further headers of this one request. */
    headers?: Record<string, string>;
    /** Aborts the request. */
    signal?: AbortSignal;
  };

/** The data of a request that was carried out, or the problem that says why it was not. */
export type Answer<TData, TError> =
  | { data: TData; error: undefined; response: Response }
  | { data: undefined; error: TError; response: Response };

export type RequestResult<TResponses, TErrors, _ThrowOnError extends boolean> = Promise<
  Answer<TResponses[keyof TResponses], TErrors[keyof TErrors]>
>;

interface RequestOptions extends SendOptions {
  url: string;
  body?: unknown;
  headers?: unknown;
  path?: unknown;
  query?: unknown;
  security?: readonly { key: string; scheme: 'bearer'; type: 'http' }[];
  signal?: AbortSignal;
}

interface Send {
  <TResponses, TErrors, ThrowOnError extends boolean>(options: RequestOptions): RequestResult<TResponses, TErrors, ThrowOnError>;
}

export interface Client {
  delete: Send;
  get: Send;
  patch: Send;
  post: Send;
  put: Send;
}

export const createConfig = <T extends ClientOptions = ClientOptions>(override?: Config<T>): Config<T> | undefined => override;

/**
 * A client for the generated functions.
 *
 * @param config Base address, token and transport. The base address is required before the first request.
 * @throws TypeError when a request is made without a base address.
 */
export function createClient<T extends ClientOptions = ClientOptions>(config?: Config<T>): Client {
  const method =
    (name: string): Send =>
    async (options) => {
      const baseUrl = config?.baseUrl;
      if (baseUrl === undefined) throw new TypeError('The client has no baseUrl. Pass one to createClient.');
      const received = await send(name, addressOf(baseUrl, options), options, config ?? {});
      return answerOf(received, { operation: `${name} ${options.url}`, url: baseUrl });
    };
  return { delete: method('DELETE'), get: method('GET'), patch: method('PATCH'), post: method('POST'), put: method('PUT') };
}

/**
 * Sends a request. Only reads are sent again: the API has no idempotency keys.
 *
 * @throws ResellerError of the class that says why no whole response came.
 */
async function send(method: string, url: string, options: RequestOptions, config: Omit<Config, 'baseUrl'>): Promise<Received> {
  const { signal, timeoutMs = config.timeoutMs ?? 30_000, maxRetries = config.maxRetries ?? 2 } = options;
  const { fetch: transport = fetch } = config;
  const isRead = method === 'GET';
  const wire = {
    url,
    method,
    headers: headersOf(options, config.token),
    body: options.body === undefined ? null : JSON.stringify(options.body),
  };
  const via: Fetch = (address, init) => transport(address, init);
  for (let retries = 0; ; retries++) {
    const attempt = await sendOnce(wire, { fetch: via, timeoutMs, signal });
    if (attempt.kind === 'received' && !isTransient(attempt.status)) return attempt;
    const state = { isRepeatable: isRead, mayBeCarriedOut: !isRead, retries, maxRetries };
    const delay = retryDelayMs(failureOf(attempt), state);
    if (delay === undefined) {
      if (attempt.kind === 'received') return attempt;
      throw errorOf(attempt, `${method} ${options.url}`, url, retries + 1, timeoutMs);
    }
    await sleep(delay, signal);
  }
}

function failureOf(attempt: Attempt): Parameters<typeof retryDelayMs>[0] {
  if (attempt.kind === 'received') return { source: 'api', transient: true, retryAfterMs: retryAfterMs(attempt.headers) };
  return { source: 'none', transient: attempt.kind !== 'aborted' };
}

function errorOf(
  { kind, left, status, cause }: Unanswered,
  operation: string,
  url: string,
  attempts: number,
  timeoutMs: number,
): ResellerError {
  const why = String(rootCause(cause));
  const [Class, message]: [ErrorClass, string] =
    kind === 'aborted'
      ? [AbortedError, 'the signal aborted the call']
      : kind === 'timeout'
        ? [TimeoutError, `no complete response within ${timeoutMs} ms`]
        : status === undefined
          ? [ConnectionError, `no response from ${url}: ${why}`]
          : [AnswerError, `the response broke off: ${why}`];
  return new Class(`${operation}: ${message}`, { ...detailsOf(operation, url), attempts, status, uncertain: left }, cause);
}

function detailsOf(operation: string, url: string) {
  const [method = ''] = operation.split(' ');
  return { operation, attempts: 1, curl: `curl -X ${method} '${url}' -H "Authorization: Bearer $TOKEN"` };
}

/** @throws AnswerError when the response is not from an operator API. */
function answerOf({ status, statusText, headers, text }: Received, { operation, url }: { operation: string; url: string }) {
  // A status without a body takes none, not even an empty one.
  const response = new Response(text === '' ? null : text, { status: status === 0 ? 502 : status, statusText, headers });
  const isJson = /[/+]json\b/.test(headers.get('content-type') ?? '');
  const body = readBody(isJson ? text : '');
  if (status >= 400) return { data: undefined, error: body ?? problemWithoutBody(response), response };
  const isForeign = status < 200 || status >= 300 || (text !== '' && body === undefined);
  if (isForeign) {
    const reason = status >= 300 || status < 200 ? 'redirect' : 'not-json';
    const message = `${operation}: status ${status} without JSON. Is the baseUrl that of an operator API?`;
    throw new AnswerError(message, { ...detailsOf(operation, url), status, reason, uncertain: true });
  }
  return { data: body, error: undefined, response };
}

/** What is within is taken on trust: the generated signatures say what it is. */
function readBody(text: string) {
  return parseJson(text) === undefined ? undefined : JSON.parse(text);
}

function headersOf({ headers, body, security }: RequestOptions, token: string | undefined): Record<string, string> {
  const sent = new Headers(recordOf(headers));
  // Every credential of the document is a bearer token. The service tells them apart.
  if (security?.length && token !== undefined && !sent.has('authorization')) sent.set('authorization', `Bearer ${token}`);
  if (body === undefined) sent.delete('content-type');
  return Object.fromEntries(sent);
}

function addressOf(baseUrl: string, options: RequestOptions): string {
  const values = recordOf(options.path);
  const path = options.url.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(values[name] ?? ''));
  const query = new URLSearchParams(recordOf(options.query)).toString();
  return `${baseUrl.replace(/\/+$/, '')}${path}${query && `?${query}`}`;
}

function recordOf(value: unknown): Record<string, string> {
  const entries = typeof value === 'object' && value !== null ? Object.entries(value) : [];
  return Object.fromEntries(entries.filter(([, item]) => item !== undefined).map(([name, item]) => [name, String(item)]));
}
