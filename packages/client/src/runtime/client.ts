/** The runtime of the generated functions: what they call to send a request and to read its answer. */
import { readAnswer } from './answer.ts';
import type { Client, Clock, CoreConfig, DataOf, Meta, RequestOptions, Send } from './options.ts';
import { prepare } from './request.ts';

export type { Client } from './options.ts';
/** What the generated functions carry along and do not send. */
export type ClientMeta = Meta;
/** What the generated code calls the addresses of the document, and how a client is made. */
export type ClientOptions = Partial<Pick<CoreConfig, 'baseUrl'>>;
export type Config<_T extends ClientOptions = ClientOptions> = CoreConfig;

/** What the generated code knows of an operation's input. */
export interface TDataShape {
  body?: unknown;
  headers?: unknown;
  path?: unknown;
  query?: unknown;
  url: string;
}

/** What a generated function takes: the operation's input, and how to make this call. */
export type Options<TData extends TDataShape = TDataShape, _ThrowOnError extends boolean = boolean, _TResponse = unknown> = Omit<
  RequestOptions,
  'url' | 'meta' | 'body' | 'path' | 'headers'
> & { headers?: Record<string, string> | undefined } & {
  // A form may hold undefined, and an identifier of digits be a number; the client checks both.
  [Name in keyof TData as Name extends 'body' | 'path' ? Name : never]:
    | Loose<TData[Name]>
    | (undefined extends TData[Name] ? undefined : never);
};

type Loose<T> = { [Name in keyof T]: T[Name] | undefined | (T[Name] extends string ? number : never) };

export type RequestResult<TResponses, _TErrors, _ThrowOnError extends boolean> = Promise<DataOf<TResponses[keyof TResponses]>>;

/** The generated code makes a client of its own where one is imported from it, which has no key. */
export const createConfig = <_T extends ClientOptions = ClientOptions>(override?: CoreConfig): CoreConfig => {
  if (!override) throw new TypeError('There is no client without a key. Make one: createClient({ apiKey, baseUrl })');
  return override;
};

/** The generated functions name it for forms. How a form is written follows from the operation's facts instead. */
export const urlSearchParamsBodySerializer = {};

/**
 * A client for the functions of `@reseller/client/operations`: each is its own import, so that a program holds only those
 * that it uses. They give the answer's `data`; what else a call can give, spend guard, events and `reconcile` are `createReseller`'s.
 *
 * @param config Base address, key and transport.
 * @throws TypeError when the API key or the base address cannot be one.
 */
export const createClient = (config: CoreConfig): Client => {
  const { apiKey = '', baseUrl = '', middleware = [], clock = { now: Date.now, sleep } } = config;
  const [, base = ''] = /^(https?:\/\/[^?#']+?)\/*$/.exec(baseUrl) ?? [];
  // Never shown: a key with a line break in it is a key all the same.
  if (!/^[!-~]+$/.test(apiKey)) throw new TypeError('apiKey must be visible ASCII');
  if (!base) throw new TypeError(`baseUrl '${baseUrl}' is no http(s) address`);
  const method =
    (name: string): Send =>
    async <E>(options: RequestOptions) =>
      (await prepare(client, name, options).send(readAnswer<DataOf<E[keyof E]>>)).data;
  const client: Client = {
    delete: method('DELETE'),
    get: method('GET'),
    post: method('POST'),
    put: method('PUT'),
    clock,
    config: () => config,
    base,
    fetch: middleware.reduceRight((next, around) => around(next), config.fetch ?? fetch),
    honoured: config.honoursIdempotencyKey,
  };
  return client;
};

/** An abort ends it early; what comes next looks for that itself. */
const sleep: Clock['sleep'] = (milliseconds, signal) =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    signal?.addEventListener('abort', () => resolve(clearTimeout(timer)));
  });
