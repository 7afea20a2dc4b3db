/** The runtime of the generated functions: what they call to send a request and to read its answer. */
import { problemWithoutBody } from './problem.ts';

/** What the generated code knows of an operation's input. */
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

export type Config<T extends ClientOptions = ClientOptions> = Omit<T, 'baseUrl'> & {
  baseUrl?: string;
  /** The operator token, or a third party's where only one-time codes are verified. */
  token?: string;
  /** A function to use in place of the global `fetch`. */
  fetch?: typeof fetch;
};

/** Values that travel with one call and are not sent. */
// oxlint-disable-next-line typescript/no-empty-interface -- users extend it by declaration merging
export interface ClientMeta {}

/** What a generated function takes: the operation's input, and how to send this one request. */
export type Options<TData extends TDataShape = TDataShape, _ThrowOnError extends boolean = boolean, _TResponse = unknown> = Omit<
  TData,
  'url'
> & {
  /** Further headers of this one request. */
  headers?: Record<string, string>;
  /** Aborts the request. */
  signal?: AbortSignal;
};

/** A good answer, or a problem as the document describes it. */
export type Answer<TData, TError> =
  | { data: TData; error: undefined; response: Response }
  | { data: undefined; error: TError; response: Response };

export type RequestResult<TResponses, TErrors, _ThrowOnError extends boolean> = Promise<
  Answer<TResponses[keyof TResponses], TErrors[keyof TErrors]>
>;

interface SecurityRequirement {
  key: string;
  scheme: 'bearer';
  type: 'http';
}

interface RequestOptions {
  url: string;
  body?: unknown;
  headers?: unknown;
  path?: unknown;
  query?: unknown;
  security?: readonly SecurityRequirement[];
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
 * @param config Base address, token and transport; the base address is required before the first request.
 * @throws TypeError when a request is made without a base address.
 */
export function createClient<T extends ClientOptions = ClientOptions>(config?: Config<T>): Client {
  const method =
    (name: string): Send =>
    async (options) => {
      const baseUrl = config?.baseUrl;
      if (baseUrl === undefined) throw new TypeError('The client has no baseUrl. Pass one to createClient.');
      const headers = new Headers(recordOf(options.headers));
      // Every credential of the document is a bearer token; which one it is, the service tells.
      const token = options.security?.length ? config?.token : undefined;
      if (token !== undefined && !headers.has('authorization')) headers.set('authorization', `Bearer ${token}`);
      // A redirect is never followed, so the token stays with its server.
      const init: RequestInit = { method: name, headers, redirect: 'error' };
      if (options.body === undefined) headers.delete('content-type');
      else init.body = JSON.stringify(options.body);
      if (options.signal) init.signal = options.signal;
      const response = await (config?.fetch ?? fetch)(addressOf(baseUrl, options), init);
      const text = await response.text();
      const isJson = /[/+]json\b/.test(response.headers.get('content-type') ?? '');
      const answer = text !== '' && isJson ? JSON.parse(text) : undefined;
      if (!response.ok) return { data: undefined, error: answer ?? problemWithoutBody(response), response };
      if (text !== '' && !isJson) {
        throw new TypeError(`${name} ${options.url} answered ${response.status} without JSON. Is the baseUrl that of an operator API?`);
      }
      return { data: answer, error: undefined, response };
    };
  return {
    delete: method('DELETE'),
    get: method('GET'),
    patch: method('PATCH'),
    post: method('POST'),
    put: method('PUT'),
  };
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
