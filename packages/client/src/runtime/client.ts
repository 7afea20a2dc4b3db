/** The runtime of the generated functions: what they call to send a request and to read its answer. */
import { readAnswer } from './answer.ts';
import { Call } from './call.ts';
import type { WithMeta } from './call.ts';
import type { Client, ClientOptions, CoreConfig, DataOf, Meta, RequestOptions, Send } from './options.ts';
import { prepare } from './prepare.ts';
import { send } from './send.ts';
import type { Read, Sender } from './send.ts';

export type { Client, ClientOptions } from './options.ts';
/** What the generated functions carry along and do not send. */
export type ClientMeta = Meta;
export type Config<T extends ClientOptions = ClientOptions> = CoreConfig & Partial<T>;

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
 * that it uses. Spend guard, events and `reconcile` are `createReseller`'s.
 *
 * @param config Base address, key and transport.
 * @throws TypeError when the API key or the base address cannot be one.
 */
export const createClient: <T extends ClientOptions = ClientOptions>(config?: Config<T>) => Client = makeClient;

/** A client from the inside, as `createReseller` completes it. */
export function makeClient(config: CoreConfig = {}): Sender {
  const { apiKey = 'x', baseUrl = 'http://x', fetch: own, middleware = [], clock = { now: Date.now, sleep } } = config;
  // Never shown: a key with a line break in it is a key all the same.
  if (!/^[!-~]+$/.test(apiKey)) throw new TypeError('The apiKey must be visible ASCII, without spaces');
  if (!/^https?:\/\/[^?#']+$/.test(baseUrl)) throw new TypeError(`The baseUrl '${baseUrl}' must be an http or https address`);
  const method =
    (name: string): Send =>
    <E>(options: RequestOptions) => {
      const run = async <R extends object>(read: Read<R>): Promise<R> => {
        const prepared = prepare(config, name, options);
        return client.extras?.around(prepared, () => send(client, prepared, read), read) ?? send(client, prepared, read);
      };
      return new Call<DataOf<E[keyof E]>>({
        withMeta: () =>
          run(async (response, prepared): Promise<WithMeta<DataOf<E[keyof E]>>> => {
            const read = await readAnswer<DataOf<E[keyof E]>>(response, prepared);
            // Out of the call's way: what it throws does not undo a purchase.
            queueMicrotask(() => config.onDrift?.(prepared.plan.operation, read.data));
            return read;
          }),
        asResponse: () => run(async (response) => response),
        async dryRun() {
          const prepared = prepare(config, name, options);
          await client.extras?.rehearse(prepared);
          return prepared.plan;
        },
      });
    };
  const client: Sender = {
    delete: method('DELETE'),
    get: method('GET'),
    post: method('POST'),
    put: method('PUT'),
    method,
    clock,
    config,
    fetch: middleware.reduceRight((next, around) => around(next), own ?? ((url, init) => fetch(url, init))),
    honoured: config.honoursIdempotencyKey,
  };
  return client;
}

/** An abort ends it early; what comes next looks for that itself. */
function sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    signal?.addEventListener('abort', () => resolve(clearTimeout(timer)));
  });
}
