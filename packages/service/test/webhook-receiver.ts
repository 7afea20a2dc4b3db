/** A server that receives webhooks. */
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

import { onTestFinished } from 'vitest';

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

export function lastOf({ got }: Receiver): Got {
  const last = got.at(-1);
  if (!last) throw new Error('The receiver got nothing.');
  return last;
}
