/** The service stops while clients and load balancers use it. */
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';

import { expect, test, vi } from 'vitest';

import { TEST_TIMEOUT_MS } from '../../../../.config/depth.ts';
import { startServer, temporaryDirectory } from '../process.ts';
import { startBalancer } from './balancer.ts';
import { tell } from './figures.ts';
import { clientOf } from './keep-alive.ts';
import { expectAllKept } from './kept.ts';
import { startLoad } from './load.ts';
import { newPlace, sqlitePlace } from './place.ts';
import { goToMidMonth, newAccount } from './provider.ts';
import { between, randomFrom, ROUNDS, seed } from './random.ts';

const CLIENTS = 16;
/** Maximum pause of a client between two requests, in milliseconds. */
const MAX_PAUSE = 300;

test(`${CLIENTS} keep-alive clients and a SIGTERM: readiness is 503 first, every connection is closed with a response, and no request is lost`, async () => {
  const server = await startServer({ ...sqlitePlace(temporaryDirectory()).environment(), RESELLER_DRAIN_SECONDS: '3' });
  const { apiKey } = await newAccount(server);
  const random = randomFrom(seed);
  let [sent, received, closed] = [0, 0, 0];
  const failures: unknown[] = [];
  const clients = Array.from({ length: CLIENTS }, async (_, number) => {
    const client = clientOf(server.baseUrl);
    for (let isOpen = true; isOpen;) {
      sent++;
      try {
        const { status, closes } = await client.get('/vm/list/hosts', { 'x-service-apikey': apiKey });
        expect(status).toBe(200);
        received++;
        isOpen = !closes;
        if (closes) closed++;
      } catch (error) {
        failures.push(error);
        return;
      }
      // Half of the clients send one request after another, and the connections of the others are idle now and then.
      if (number % 2 === 0) await pause(between(random, 0, MAX_PAUSE));
    }
  });
  await vi.waitFor(() => expect(received).toBeGreaterThan(10 * CLIENTS), { timeout: 300_000 });
  const exited = once(server.process, 'exit');
  const stopped = performance.now();
  server.process.kill('SIGTERM');
  // The port still accepts connections when readiness says that the service stops.
  const stopping = await vi.waitFor(
    async () => {
      const response = await fetch(`${server.operatorUrl}/readyz`);
      expect(response.status).toBe(503);
      return response.json();
    },
    { timeout: 300_000, interval: 10 },
  );
  expect(stopping).toEqual({ status: 'unavailable', reason: 'stopping' });
  expect((await fetch(`${server.baseUrl}/healthz`)).status).toBe(200);
  await Promise.all(clients);
  expect(await exited).toEqual([0, null]);
  tell(
    `SIGTERM: ${sent} requests of ${CLIENTS} clients, ${failures.length} lost, ${closed} connections closed with a response, ended after ${Math.round(performance.now() - stopped)} ms`,
  );
  expect(failures).toEqual([]);
  expect([received, closed]).toEqual([sent, CLIENTS]);
});

test(
  `two instances behind a load balancer are restarted one after the other under load, ${ROUNDS} times: no request fails (FAULT_SEED=${seed})`,
  { timeout: TEST_TIMEOUT_MS + ROUNDS * 90_000, tags: 'deep' },
  async () => {
    const place = await newPlace('postgres');
    const start = () => startServer({ ...place.environment(), RESELLER_DRAIN_SECONDS: '3' });
    const servers = await Promise.all([start(), start()]);
    const [one] = servers;
    await goToMidMonth(one);
    const account = await newAccount(one);
    const balancer = await startBalancer(servers.map(({ baseUrl }) => baseUrl));
    const load = startLoad({ instances: [balancer.url], account, seed, callers: 8, prefix: `r-${seed.toString(36)}` });
    for (let round = 0; round < ROUNDS; round++) {
      for (const [index, server] of servers.entries()) {
        await load.responsesReceived(100, 'now');
        const ended = server.end('SIGTERM');
        load.slowDown();
        expect(await ended).toBe(0);
        const next = await start();
        servers[index] = next;
        await balancer.replace(server.baseUrl, next.baseUrl);
        load.speedUp();
      }
    }
    await load.responsesReceived(100, 'now');
    await load.stop();
    const failed = load.sent.filter(({ times, responses }) => times > responses.length);
    tell(
      `rolling restart: ${2 * ROUNDS} restarts, ${load.sent.length} requests, ${failed.length} failed, ${balancer.failed()} of the load balancer`,
    );
    expect(failed).toEqual([]);
    expect(balancer.failed()).toBe(0);
    await expectAllKept({ load, place, instance: balancer.url });
  },
);
