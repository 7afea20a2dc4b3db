/** The runtime of the generated functions: JSON bodies and the token. Everything else of a request is that of `@reseller/client`. */
import {
  CALL_OPTIONS,
  callOf,
  checkCredential,
  checkOptions,
  connect,
  environmentVariable,
  errorOf,
  fillPath,
  InvalidError,
  send,
} from '@reseller/client/runtime';
import type { Call, ClientConfig as AnyClientConfig, Connection, Refuse, RequestOptions, Sendable, Values } from '@reseller/client/runtime';

import { operations, secretNames } from '../generated/operation-table.gen.ts';
import { classifyProblem } from './problem.ts';

export { checkedClient } from '@reseller/client/runtime';

/** Options of `createClient`. */
export type ClientConfig = Where &
  Omit<AnyClientConfig, 'apiKey' | 'baseUrl' | 'honoursIdempotencyKey'> & {
    /**
     * The operator token, or a verifier's, which serves for `verifyOtp` alone. By default the environment variable `RESELLER_OPERATOR_TOKEN`.
     * Null sends none, for a page of the service whose session is a cookie.
     */
    readonly token?: string | null | undefined;
  };

/**
 * Where the operator API is: an address of your own, or a sandbox on this machine. The sandbox is at the address in the environment variable
 * `RESELLER_SANDBOX_OPERATOR_URL` if it is set.
 */
export type Where =
  | { readonly baseUrl: string; readonly environment?: undefined }
  | { readonly environment: 'sandbox'; readonly baseUrl?: undefined };

/** The name of an operation in the document, and of its function. */
export type OperationId = (typeof operations)[keyof typeof operations]['id'];

/** Sends requests for the functions of this package. */
export interface Client {
  readonly delete: Send;
  readonly get: Send;
  readonly post: Send;
  readonly put: Send;
}

/** Sends one request. The signatures of the generated functions give the type of the data. */
export type Send = <Responses, _Errors, _ThrowOnError extends boolean>(input: Input) => Call<Responses[keyof Responses]>;

/** The input of an operation, as a generated function passes it on. */
interface Input extends RequestOptions {
  readonly url: string;
  readonly path?: Values | undefined;
  readonly query?: Values | undefined;
  readonly body?: unknown;
}

/** What `openapi-ts` knows of an operation's input. */
export interface TDataShape {
  readonly body?: unknown;
  readonly headers?: unknown;
  readonly path?: unknown;
  readonly query?: unknown;
  readonly url: string;
}

/** Values that travel with one call and are not sent. */
export type ClientMeta = Record<never, never>;

/** Input of a generated function, and how to send this one request. */
export type Options<Data extends TDataShape = TDataShape, _ThrowOnError extends boolean = boolean, _Response = unknown> = Omit<
  Data,
  'url' | 'headers'
> &
  Omit<RequestOptions, 'idempotencyKey'>;

export type RequestResult<Responses, _Errors, _ThrowOnError extends boolean> = Call<Responses[keyof Responses]>;

const CLIENT_OPTIONS = [
  'token',
  'baseUrl',
  'environment',
  'fetch',
  'middleware',
  'headers',
  'timeoutMs',
  'deadlineMs',
  'maxRetries',
  'clock',
] satisfies readonly (keyof ClientConfig)[];
/** Those of `@reseller/client`, except the key, which this API does not have. */
const OPERATOR_CALL_OPTIONS = CALL_OPTIONS.filter((name) => name !== 'idempotencyKey');
const SANDBOX_URL = 'http://127.0.0.1:4011';
const SECRETS: ReadonlySet<string> = new Set(secretNames);
const ADVICE_WHEN_LOST = 'Check whether it was carried out before you send it again';

/**
 * A client for the functions of this package.
 *
 * @throws TypeError when the configuration cannot be used.
 */
export function createClient(config: ClientConfig): Client {
  const variable = 'RESELLER_OPERATOR_TOKEN';
  checkOptions('createClient', config, CLIENT_OPTIONS);
  const { token = environmentVariable(variable), environment, ...others } = config;
  if (token !== null) checkCredential(token, 'token', variable);
  if (environment !== undefined && environment !== 'sandbox')
    throw new TypeError(`The environment '${String(environment)}' is unknown. Use sandbox, or pass the address as baseUrl.`);
  if (environment !== undefined && config.baseUrl !== undefined)
    throw new TypeError('Set either baseUrl or environment. They name two addresses.');
  const baseUrl = environment === undefined ? config.baseUrl : (environmentVariable('RESELLER_SANDBOX_OPERATOR_URL') ?? SANDBOX_URL);
  const connection = connect(
    { ...others, baseUrl },
    {
      userAgent: 'reseller-operator-client',
      credentials: () => (token === null ? {} : { authorization: `Bearer ${token}` }),
      classify: classifyProblem,
      adviceWhenLost: ADVICE_WHEN_LOST,
    },
  );
  function via(method: string): Send {
    return (input) => {
      async function respond() {
        return send(connection, prepare(connection, method, input));
      }
      return callOf(respond());
    };
  }
  return { delete: via('DELETE'), get: via('GET'), post: via('POST'), put: via('PUT') };
}

/** @throws InvalidError when a parameter of the path cannot be part of a path. */
function prepare({ base }: Connection, method: string, input: Input): Sendable {
  const { url: template, path = {}, query = {}, body, ...others } = input;
  const { client: _client, ...options }: RequestOptions & { readonly client?: unknown } = others;
  checkOptions('A call', options, OPERATOR_CALL_OPTIONS);
  // The generated functions name the type of a body even if there is none.
  const { 'Content-Type': _, ...headers } = options.headers ?? {};
  const operation = operationOf(`${method} ${template}`);
  const fields: { field: string; rule: string; message: string }[] = [];
  const refuse: Refuse = (field, rule, message) => void fields.push({ field, rule, message });
  const search = new URLSearchParams(textsOf(query)).toString();
  const url = `${base}${fillPath(template, path, refuse)}${search && `?${search}`}`;
  const curl = curlOf(method, url, body);
  if (fields.length > 0) {
    const message = fields.map((issue) => `${issue.field} ${issue.message}`).join('; ');
    throw errorOf({ operation, curl }, { Class: InvalidError, message, details: { fields } });
  }
  if (body === undefined) return { operation, method, url, curl, body: null, options: { ...options, headers } };
  return { operation, method, url, curl, body: JSON.stringify(body), options };
}

/** The request as a command line, without the token and without secrets. */
function curlOf(method: string, url: string, body: unknown): string {
  const line = `curl -X ${method} '${url}' -H "Authorization: Bearer $TOKEN"`;
  if (body === undefined) return line;
  const text = JSON.stringify(body, (name, value: unknown) => (value !== null && SECRETS.has(name) ? '***' : value));
  return `${line} -H 'Content-Type: application/json' --data-raw '${pasteable(text).replaceAll("'", `'\\''`)}'`;
}

/** JSON text without characters that a terminal would hide or act on, such as a deletion. */
function pasteable(json: string): string {
  return json.replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, (character) =>
    Array.from({ length: character.length }, (_, index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`).join(''),
  );
}

function operationOf(key: string): Sendable['operation'] {
  const known: Readonly<Record<string, Sendable['operation']>> = operations;
  const operation = known[key];
  if (!operation) throw new TypeError(`The operator API has no operation ${key}.`);
  return operation;
}

function textsOf(values: Values): Record<string, string> {
  const present = Object.entries(values).filter(([, value]) => value !== undefined);
  return Object.fromEntries(present.map(([name, value]) => [name, String(value)]));
}
