/** A load balancer that sends each request once, to an instance that is ready. */
import { once } from 'node:events';
import { Agent, createServer, request } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';

import { expect, onTestFinished, vi } from 'vitest';

/** Milliseconds between two checks of readiness. */
const CHECK_INTERVAL = 100;

export interface Balancer {
  readonly url: string;
  /** Replaces an instance, and resolves when the new one gets requests. */
  replace(gone: string, next: string): Promise<void>;
  /** Number of requests without a response of an instance. */
  failed(): number;
}

export async function startBalancer(instances: readonly string[]): Promise<Balancer> {
  const agent = new Agent({ keepAlive: true });
  const all = new Set(instances);
  const ready = new Set(instances);
  let [turn, failed] = [0, 0];
  const state = { isOpen: true };

  async function check(): Promise<void> {
    for (const instance of all) {
      const isReady = await fetch(`${instance}/readyz`).then(
        ({ ok }) => ok,
        () => false,
      );
      if (isReady && all.has(instance)) ready.add(instance);
      else ready.delete(instance);
    }
  }
  const checking = (async () => {
    for (; state.isOpen; await pause(CHECK_INTERVAL)) await check();
  })();

  function forward(incoming: IncomingMessage, outgoing: ServerResponse): void {
    const list = [...ready];
    const instance = list[turn++ % list.length];
    const fail = (): void => {
      failed++;
      outgoing.writeHead(502).end();
    };
    if (instance === undefined) return fail();
    const { method, headers, url = '/' } = incoming;
    const sent = request(instance + url, { agent, method, headers }, (response) => {
      const { connection: _, ...rest } = response.headers;
      outgoing.writeHead(response.statusCode ?? 502, rest);
      response.pipe(outgoing);
    });
    sent.on('error', fail);
    incoming.pipe(sent);
  }

  const server = createServer(forward).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(async () => {
    state.isOpen = false;
    await checking;
    agent.destroy();
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}`,
    async replace(gone, next) {
      all.delete(gone);
      ready.delete(gone);
      all.add(next);
      await vi.waitFor(() => expect(ready).toContain(next), { timeout: 300_000 });
    },
    failed: () => failed,
  };
}
