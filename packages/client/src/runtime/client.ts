/** The runtime of the generated functions: what they call to send a request and to read its answer. */
import { Call } from './call.ts';
import type { Client, ClientConfig, ClientOptions, DataOf, Facts, Recovery, RequestOptions, Send } from './options.ts';
import { prepare } from './prepare.ts';
import type { Sender } from './prepare.ts';
import { answer, respond } from './send.ts';
import { rehearse } from './spend.ts';

export type { Client, ClientOptions } from './options.ts';
/** What the generated functions carry along and do not send. */
export type ClientMeta = Facts;
export type Config<T extends ClientOptions = ClientOptions> = ClientConfig & Partial<T>;

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

export type RequestResult<TResponses, _TErrors, _ThrowOnError extends boolean> = Call<DataOf<TResponses[keyof TResponses]>>;

export const createConfig = <T extends ClientOptions = ClientOptions>(override?: Config<T>): Config<T> | undefined => override;

/** The generated functions name it for forms. How a form is written follows from the operation's facts instead. */
export const urlSearchParamsBodySerializer = {};

/**
 * A client for the functions of `@reseller/client/operations`: each is its own import, so that a program holds only those
 * that it uses.
 *
 * @param config Base address, key and transport.
 * @param recovery What `reconcile: true` needs; `createReseller` gives it.
 * @throws TypeError when the API key or the base address cannot be one.
 */
export function createClient<T extends ClientOptions = ClientOptions>(config: Config<T> = {}, recovery?: Recovery): Client {
  const { apiKey, baseUrl } = config;
  // Never shown: a key with a line break in it is a key all the same.
  if (apiKey !== undefined && !/^[!-~]+$/.test(apiKey)) throw new TypeError('The apiKey must be visible ASCII characters, without spaces.');
  if (baseUrl !== undefined && !/^https?:\/\/[^/?#]+[^?#]*$/.test(baseUrl)) {
    throw new TypeError(`The baseUrl '${baseUrl}' is no http or https address without query. Give the one that you got from the provider.`);
  }
  const send = config.fetch ?? ((url, init) => fetch(url, init));
  const method =
    (name: string): Send =>
    (options) => {
      const prepared = () => prepare(sender, name, options);
      return new Call({
        answer: async () => answer(sender, prepared()),
        response: async () => respond(sender, prepared()),
        dryRun: async () => rehearse(sender, prepared()),
      });
    };
  const client: Client = {
    delete: method('DELETE'),
    get: method('GET'),
    patch: method('PATCH'),
    post: method('POST'),
    put: method('PUT'),
    clock: config.clock ?? { now: () => Date.now(), sleep },
    state: {
      honoured: config.honoursIdempotencyKey ?? false,
      spent: 0,
      anchor: undefined,
      answered: new Set(),
      open: new Map(),
      lost: new WeakMap(),
    },
  };
  const sender: Sender = {
    client,
    config,
    recovery,
    fetch: (config.middleware ?? []).reduceRight((next, around) => around(next), send),
  };
  return client;
}

function sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', end);
      resolve();
    }, milliseconds);
    if (signal?.aborted) end();
    signal?.addEventListener('abort', end, { once: true });
  });
}
