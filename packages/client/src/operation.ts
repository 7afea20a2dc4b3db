/** An operation as it is called: path parameters, then the form, then options. */
import { WRITE } from './generated/places.gen.ts';
import type { Purchases } from './purchases.ts';
import { readAnswer } from './runtime/answer.ts';
import { callOf } from './runtime/call.ts';
import type { Call, WithMeta } from './runtime/call.ts';
import type { Client, ClientConfig, Meta } from './runtime/options.ts';
import { fill } from './runtime/path.ts';
import { prepare } from './runtime/request.ts';
import type { Prepared, Read } from './runtime/request.ts';

/**
 * Makes the operations of a client.
 *
 * @param load What calls that change something need besides; it is there before they are sent.
 */
export const operationsOf = (
  client: Client,
  { onDrift, onEvent }: Pick<ClientConfig, 'onDrift' | 'onEvent'>,
  load: () => Promise<Purchases>,
) => {
  /** Sends a request and tells what happens. */
  const send = <T>(prepared: Prepared, read: Read<T>): Promise<T> => {
    let began = 0;
    return prepared.send(read, (what, attempt) => {
      const now = client.clock.now();
      if (what.type === 'request') began = now;
      // Out of the call's way: what it throws does not touch the call.
      queueMicrotask(() => onEvent?.({ ...prepared.plan, attempt, milliseconds: now - began, ...what }));
    });
  };
  const run = async <T extends object>(prepared: Prepared, read: Read<T>): Promise<T> =>
    prepared.is('r') ? send(prepared, read) : (await load()).around(prepared, () => send(prepared, read), read);

  return (method: string, url: string, meta: Meta) =>
    (...input: unknown[]): Call<never> => {
      const path: Record<string, unknown> = {};
      for (const [, name = ''] of url.matchAll(/\{(\w+)/g)) path[name] = input.shift();
      const form = /\./.test(meta) && { body: Object(input.shift()) };
      const options = Object(input[0]);
      const headers = { ...(form && { 'Content-Type': 'application/x-www-form-urlencoded' }), ...options.headers };
      const request = () => prepare(client, method, { ...options, ...form, url, path, meta, headers, fill, write: WRITE });
      return callOf(
        async (): Promise<WithMeta<never>> => {
          const prepared = request();
          const answer = await run(prepared, readAnswer<never>);
          // Out of the call's way: what it throws does not undo a purchase.
          queueMicrotask(() => onDrift?.(prepared.plan.operation, answer.data));
          return answer;
        },
        async () => run(request(), async (response) => response),
        async () => {
          const prepared = request();
          if (!prepared.is('r')) await (await load()).rehearse(prepared);
          return prepared.plan;
        },
      );
    };
};
