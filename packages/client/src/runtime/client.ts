/** The runtime of the functions in `generated/sdk.gen.ts`. `openapi-ts` imports the names below instead of its own client. */
import { API_KEY_HEADER, VERSION } from '../generated/document.gen.ts';
import { callOf } from './call.ts';
import type { Call } from './call.ts';
import { checkCredential, connect } from './connection.ts';
import type { Connection, KeySupport } from './connection.ts';
import { classifyEnvelope } from './envelope.ts';
import { environmentVariable } from './environment.ts';
import type { Values } from './form.ts';
import type { Operation } from './operation.ts';
import type { ClientConfig, RequestOptions } from './options.ts';
import { prepare } from './prepare.ts';
import type { RequestInput } from './prepare.ts';
import { send } from './request.ts';
import { shape } from './shape.ts';

/** Sends requests for the functions of `@reseller/client/operations`. */
export interface Client {
  readonly delete: Send;
  readonly get: Send;
  readonly post: Send;
  readonly put: Send;
}

/** Sends one request. The signatures of the generated functions give the type of the data. */
export type Send = <_Responses, _Errors, _ThrowOnError extends boolean>(input: SdkInput) => Call<never>;

/** The input that a generated function passes on. */
export interface SdkInput extends RequestOptions {
  readonly url: string;
  readonly path?: Values | undefined;
  readonly body?: Values | undefined;
  readonly meta?: Operation | undefined;
}

/** What the generated functions carry along without sending it: the facts of the operation. */
export type ClientMeta = Operation;

/** The type of an operation's input in `openapi-ts`. */
export interface TDataShape {
  readonly body?: unknown;
  readonly headers?: unknown;
  readonly path?: unknown;
  readonly query?: unknown;
  readonly url: string;
}

/** Input of a generated function. The signatures in `operations.gen.ts` are stricter. */
export type Options<
  _Data extends TDataShape = TDataShape,
  _ThrowOnError extends boolean = boolean,
  _Response = unknown,
> = RequestOptions & {
  readonly path?: Values | undefined;
  readonly body?: Values | undefined;
};

export type RequestResult<_Responses, _Errors, _ThrowOnError extends boolean> = Call<never>;

/** The generated functions spread it for forms. The operation says how a form is encoded. */
export const urlSearchParamsBodySerializer = {};

/** A client that hands each request to a function. */
export function clientOf(handle: (method: string, input: RequestInput) => Call<never>): Client {
  function via(method: string): Send {
    return ({ meta, ...input }) => {
      if (!meta) throw new TypeError('Import the functions from @reseller/client/operations: they know their operation.');
      return handle(method, { ...input, meta });
    };
  }
  return { delete: via('DELETE'), get: via('GET'), post: via('POST'), put: via('PUT') };
}

/** @throws TypeError when the configuration cannot be used. */
export function connectToReseller(config: ClientConfig, adviceWhenLost: string, keys?: KeySupport): Connection {
  const { apiKey = environmentVariable('RESELLER_API_KEY') } = config;
  checkCredential('apiKey', apiKey);
  const userAgent = `reseller-client/${VERSION}`;
  return connect(
    config,
    { userAgent, credentials: () => ({ [API_KEY_HEADER]: apiKey }), classify: classifyEnvelope, adviceWhenLost },
    keys,
  );
}

/**
 * A client for the functions of `@reseller/client/operations`. Each function is its own import, so that a program holds only those
 * that it uses. The spend guard, `reconcile`, events and logging belong to `createReseller`.
 *
 * @throws TypeError when the configuration cannot be used.
 */
export function createClient(config: ClientConfig): Client {
  const connection = connectToReseller({ ...config }, 'Find out whether it was carried out before you make the call again');
  return clientOf((method, input) => {
    async function respond() {
      return shape(input.meta, await send(connection, prepare(connection, method, input)));
    }
    return callOf(respond());
  });
}
