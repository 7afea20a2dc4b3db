/** Sends operations by their names in the document. */
import { createReseller } from '@reseller/client/extension';
import type { Call, ClientEvent } from '@reseller/client/extension';
import { EXTENSION_PLACES, PLACES } from '@reseller/client/places';
import type { Places } from '@reseller/client/places';
import { fillPath, maskSecrets } from '@reseller/contract';
import type { Operation } from '@reseller/contract';
import * as operatorSdk from '@reseller/operator-client';

import type { Api } from './api.ts';
import { pathArguments } from './input.ts';
import type { Input } from './input.ts';
import type { Io } from './io.ts';
import { credential } from './target.ts';
import type { Target } from './target.ts';
import { note } from './terminal.ts';

/** A response. */
export interface Result {
  readonly data: unknown;
  readonly message: string;
  readonly headers: Headers;
}

export interface CallSettings {
  readonly idempotencyKey?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A request that is not sent. */
export interface Preview {
  readonly method: string;
  readonly url: string;
  readonly body: Readonly<Record<string, unknown>>;
}

/** An API of a service, with the credentials of the caller. */
export interface Caller {
  readonly url: string;
  readonly secret: string;
  call(operation: Operation, input: Input, settings?: CallSettings): Promise<Result>;
  /** The request without secrets. Its input is checked, and nothing is sent. */
  preview(operation: Operation, input: Input): Promise<Preview>;
}

export function callerOf(io: Io, api: Api, target: Target): Caller {
  return api.name === 'reseller' ? resellerCaller(io, target) : operatorCaller(api, target);
}

function resellerCaller(io: Io, target: Target): Caller {
  const { url, secret } = credential(target, 'apiKey');
  const reseller = createReseller({ baseUrl: url, apiKey: secret, onEvent: (event) => tellLongWait(io, event) });
  function send(groups: object, operation: Operation, { path, body }: Input, settings: CallSettings): Call<unknown> {
    const method = memberAt(groups, placeOf(operation.id));
    const values = pathArguments(operation).map(({ name }) => path[name]);
    return method(...values, ...(operation.form ? [body ?? {}] : []), settings);
  }
  return {
    url,
    secret,
    call: async (operation, input, settings = {}) => resultOf(send(reseller, operation, input, settings)),
    preview: async (operation, input) => {
      const { method, url: address, form } = await reseller.dryRun((groups) => send(groups, operation, input, {}));
      return { method, url: address, body: form };
    },
  };
}

/** The shortest pause before the next attempt that a person is told of, in milliseconds. */
const TOLD_WAIT_MS = 5_000;

function tellLongWait(io: Io, event: ClientEvent): void {
  if (event.type !== 'failure' || (event.delay ?? 0) < TOLD_WAIT_MS) return;
  const seconds = Math.ceil((event.delay ?? 0) / 1000);
  note(io, `The service asks to wait ${seconds} seconds. The command goes on then.`);
}

function operatorCaller(api: Api, target: Target): Caller {
  const { url, secret } = credential(target, 'operatorToken');
  const functions: Readonly<Record<string, unknown>> = operatorSdk;
  function send({ id }: Operation, input: Input, client: operatorSdk.Client, signal?: AbortSignal): Call<unknown> {
    const method = functions[id];
    if (typeof method !== 'function') throw new TypeError(`The operator client has no function ${id}.`);
    return Reflect.apply(method, undefined, [{ client, ...input, signal }]);
  }
  const client = operatorSdk.createClient({ baseUrl: url, token: secret });
  return {
    url,
    secret,
    call: async (operation, input, { signal } = {}) => resultOf(send(operation, input, client, signal)),
    preview: async ({ method, path: template, body }, input) => {
      const search = new URLSearchParams(
        Object.entries(input.query).map(([name, value]): [string, string] => [name, String(value)]),
      ).toString();
      return {
        method,
        url: `${url}${fillPath(template, input.path)}${search && `?${search}`}`,
        body: Object(body && maskSecrets(api.document, body.pointer, input.body)),
      };
    },
  };
}

async function resultOf(call: Call<unknown>): Promise<Result> {
  const { data, message, response } = await call.withMeta();
  return { data, message, headers: response.headers };
}

/** The names that lead to the function of an operation: `['domain', 'dns', 'list']`. */
function placeOf(id: string): readonly string[] {
  const found = placeIn(PLACES, id) ?? placeIn(EXTENSION_PLACES, id);
  if (!found) throw new TypeError(`The client has no function for ${id}.`);
  return found;
}

function placeIn(places: Places, id: string): readonly string[] | undefined {
  for (const [name, place] of Object.entries(places)) {
    if (place === id) return [name];
    const inner = typeof place === 'string' ? undefined : placeIn(place, id);
    if (inner) return [name, ...inner];
  }
  return undefined;
}

function memberAt(groups: object, names: readonly string[]): (...inputs: unknown[]) => Call<unknown> {
  const member = names.reduce<unknown>((at, name) => Reflect.get(Object(at), name), groups);
  if (typeof member !== 'function') throw new TypeError(`The client has no function ${names.join('.')}.`);
  return (...inputs) => Reflect.apply(member, undefined, inputs);
}
