/** A server that receives webhooks. */
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

import { onTestFinished } from 'vitest';

import type { TestService } from './harness.ts';

/** A request that a receiver got. */
export interface Got {
  readonly id: string;
  readonly headers: Record<string, string>;
  readonly body: string;
  readonly event: { readonly id: string; readonly type: string; readonly subject: string; readonly data: Record<string, unknown> };
}

export type Respond = (got: Got, response: ServerResponse) => void;

export const accept: Respond = (_got, response) => void response.writeHead(204).end();
export const fail: Respond = (_got, response) => void response.writeHead(500).end();

export interface Receiver {
  readonly url: string;
  readonly got: Got[];
  respond: Respond;
}

/** A server that stores what it receives. */
export async function startReceiver(respond: Respond = accept): Promise<Receiver> {
  const got: Got[] = [];
  const server = createServer((request, response) => void read(request, response));
  async function read(request: IncomingMessage, response: ServerResponse): Promise<void> {
    request.setEncoding('utf8');
    let body = '';
    for await (const chunk of request) body += String(chunk);
    const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
    const one = { id: headers['webhook-id'] ?? '', headers, body, event: JSON.parse(body) };
    got.push(one);
    receiver.respond(one, response);
  }
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port }: AddressInfo = Object(server.address());
  const receiver: Receiver = { url: `http://127.0.0.1:${port}/hooks`, got, respond };
  return receiver;
}

/** Adds a webhook whose URL counts as confirmed, and of whose test nothing is left. @returns The webhook with its secret. */
export async function addConfirmed(service: TestService, form: Readonly<Record<string, unknown>>, apiKey?: string) {
  const { data } = (await service.call('addWebhook', { form, ...(apiKey !== undefined && { apiKey }) })).body;
  const webhookId: string = data.webhook_id;
  await service.store.commit(async ({ db }) => {
    await db.deleteFrom('webhook_deliveries').where('webhook_id', '=', webhookId).execute();
    const { account_id } = await db
      .updateTable('webhooks')
      .set({ confirming: null, last_delivery: 0 })
      .where('id', '=', webhookId)
      .returning('account_id')
      .executeTakeFirstOrThrow();
    const tests = await db.deleteFrom('events').where('subject', '=', `webhook/${webhookId}`).executeTakeFirst();
    await db
      .updateTable('event_feeds')
      .set(({ eb }) => ({ last: eb('last', '-', Number(tests.numDeletedRows)) }))
      .where('account_id', '=', account_id)
      .execute();
  });
  return { ...data, confirmed: true };
}

export function lastOf({ got }: Receiver): Got {
  const last = got.at(-1);
  if (!last) throw new Error('The receiver got nothing.');
  return last;
}
