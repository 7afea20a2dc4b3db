/** The runtime of the functions in `generated/sdk.gen.ts`. `openapi-ts` imports the names below instead of its own client. */
import { API_KEY_HEADER, VERSION } from '../generated/document.gen.ts';
import { callOf } from './call.ts';
import type { Call } from './call.ts';
import { checkOptions } from './check-options.ts';
import { checkCredential, connect } from './connection.ts';
import type { Connection, KeySupport } from './connection.ts';
import { classifyEnvelope } from './envelope.ts';
import { environmentVariable } from './environment.ts';
import { encodeForm } from './form.ts';
import type { ClientConfig, RequestOptions } from './options.ts';
import { prepare } from './prepare.ts';
import type { RequestInput } from './prepare.ts';
import { send } from './request.ts';
import { shape } from './shape.ts';
import type { DataOf } from './shape.ts';

export { checkedClient } from './check-options.ts';

/** Sends requests for the functions of `@reseller/client/operations`. */
export interface Client {
  readonly delete: Send;
  readonly get: Send;
  readonly post: Send;
  readonly put: Send;
}

/** Sends one request of a generated function, which gives the type of the data. */
export type Send = <Responses, _Errors, _ThrowOnError extends boolean>(input: RequestInput) => Call<DataOf<Responses>>;

/** Values that travel with one call and are not sent. There are none. */
export type ClientMeta = Record<never, never>;

/** The type of an operation's input in `openapi-ts`. */
export interface TDataShape {
  readonly body?: unknown;
  readonly headers?: unknown;
  readonly path?: unknown;
  readonly query?: unknown;
  readonly url: string;
}

/** Input of a generated function: path parameters, which may be numbers, the form, and the options of the call. */
export type Options<Data extends TDataShape = TDataShape, _ThrowOnError extends boolean = boolean, _Response = unknown> = RequestOptions & {
  readonly [Name in keyof Data as Name extends 'path' | 'body' ? Name : never]: Name extends 'path'
    ? { readonly [Parameter in keyof Data[Name]]: Data[Name][Parameter] | number }
    : object extends Pick<Data, Name>
      ? Data[Name] | undefined
      : Data[Name];
};

export type RequestResult<Responses, _Errors, _ThrowOnError extends boolean> = Call<DataOf<Responses>>;

/** The functions of operations with a form spread it, so that the other functions do not load it. */
export const urlSearchParamsBodySerializer: { readonly bodySerializer: typeof encodeForm } = { bodySerializer: encodeForm };

/** A client that hands each request to a function. */
export function clientOf(handle: (method: string, input: RequestInput) => Call<never>): Client {
  function via(method: string): Send {
    return (input) => handle(method, input);
  }
  return { delete: via('DELETE'), get: via('GET'), post: via('POST'), put: via('PUT') };
}

/** @throws TypeError when the configuration cannot be used. */
export function connectToReseller(config: ClientConfig, adviceWhenLost: string, keys?: KeySupport): Connection {
  const variable = 'RESELLER_API_KEY';
  const { apiKey = environmentVariable(variable) } = config;
  checkCredential(apiKey, 'apiKey', variable);
  return connect(
    config,
    {
      userAgent: `reseller-client/${VERSION}`,
      credentials: () => ({ [API_KEY_HEADER]: apiKey }),
      classify: classifyEnvelope,
      adviceWhenLost,
    },
    keys,
  );
}

const CLIENT_OPTIONS = [
  'apiKey',
  'baseUrl',
  'fetch',
  'middleware',
  'headers',
  'timeoutMs',
  'deadlineMs',
  'maxRetries',
  'honoursIdempotencyKey',
  'clock',
] satisfies readonly (keyof ClientConfig)[];

/**
 * A client for the functions of `@reseller/client/operations`. Each function is its own import, so that a program holds only those
 * that it uses. `reconcile`, `dryRun`, events and logging belong to `createReseller`.
 *
 * @throws TypeError when the configuration cannot be used.
 */
export function createClient(config: ClientConfig): Client {
  const given = { ...config };
  checkOptions('createClient', given, CLIENT_OPTIONS);
  const connection = connectToReseller(given, 'Find out whether it was carried out before you make the call again');
  async function respond(method: string, input: RequestInput) {
    return shape(input.requestValidator, await send(connection, prepare(connection, method, input)));
  }
  return clientOf((method, input) => callOf(respond(method, input)));
}
