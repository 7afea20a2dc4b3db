/** The database of a busy instance becomes unavailable and then available again. */
import { once } from 'node:events';
import { connect } from 'node:net';

import { sandboxDatabase } from '@reseller/service/test/prepared-store.ts';
import { expect, test, vi } from 'vitest';

import { TEST_TIMEOUT_MS } from '../../../../.config/depth.ts';
import { startServer } from '../process.ts';
import { tell } from './figures.ts';
import { expectAllKept, expectUnavailable } from './kept.ts';
import { startLoad } from './load.ts';
import { ownPostgres } from './own-postgres.ts';
import { postgresPlace } from './place.ts';
import type { Place } from './place.ts';
import { goToMidMonth, newAccount, newAccounts, OPERATOR_TOKEN } from './provider.ts';
import { proxyTo } from './proxy.ts';
import { between, randomFrom, ROUNDS, seed } from './random.ts';
import { fetchOf, vmPurchase } from './request.ts';

const CALLERS = 8;
/** Milliseconds within which every request gets a response, however the database fails. */
const BOUND = 60_000;

/** A database, and how to make it unavailable and available again. */
interface Failing {
  readonly place: Place;
  goAway(): Promise<void>;
  comeBack(): Promise<void>;
}

const kinds: readonly { readonly name: string; readonly tags?: 'deep'; create(): Promise<Failing> }[] = [
  {
    name: 'the database server ends and is started again',
    // `lost-commit.test.ts` crashes one in each run.
    tags: 'deep',
    async create() {
      const { url, crash, start } = await ownPostgres();
      return { place: postgresPlace(url), goAway: crash, comeBack: start };
    },
  },
  {
    name: 'its connections are cut, and refused',
    // A server that ends also cuts them.
    tags: 'deep',
    async create() {
      const url = await sandboxDatabase();
      const proxy = await proxyTo(url);
      return { place: postgresPlace(url, proxy.url), goAway: proxy.cut, comeBack: proxy.mend };
    },
  },
  {
    name: 'its connections stay open, but it no longer responds',
    async create() {
      const url = await sandboxDatabase();
      const proxy = await proxyTo(url);
      return { place: postgresPlace(url, proxy.url), goAway: async () => proxy.swallow(), comeBack: proxy.mend };
    },
  },
];

for (const { name, tags = [], create } of kinds) {
  test(
    `${name}: 503 within ${BOUND / 1000} s during the outage, and nothing is lost or repeated, in ${ROUNDS} rounds (FAULT_SEED=${seed})`,
    { timeout: TEST_TIMEOUT_MS + ROUNDS * 60_000, tags },
    async () => {
      const random = randomFrom(seed);
      const { place, goAway, comeBack } = await create();
      const server = await startServer(place.environment());
      const { baseUrl, operatorUrl } = server;
      await goToMidMonth(server);
      const buyer = await newAccount(server);
      const accounts = await newAccounts(server, ROUNDS);
      let [requests, refused, slowest] = [0, 0, 0];
      for (const [round, account] of accounts.entries()) {
        const prefix = `d${round}-${seed.toString(36)}`;
        const load = startLoad({
          instances: [baseUrl],
          account,
          seed: seed + round * 1_000,
          callers: CALLERS,
          prefix,
        });
        await load.responsesReceived(between(random, 1, 100));
        await goAway();
        load.slowDown();
        const responses = () => load.sent.flatMap((sent) => sent.responses);
        const count = () => responses().filter(({ status }) => status === 503).length;
        await vi.waitFor(() => expect(count()).toBeGreaterThan(2 * CALLERS), { timeout: 300_000, interval: 50 });

        expect((await fetch(`${baseUrl}/healthz`)).status).toBe(200);
        expect((await fetch(`${operatorUrl}/healthz`)).status).toBe(200);
        // The service remembers for a moment that it was ready.
        await vi.waitFor(async () => expect((await fetch(`${baseUrl}/readyz`)).status).toBe(503), { timeout: 300_000, interval: 50 });
        const purchase = vmPurchase(`away-${round}`, { key: `away-${round}` });
        expectUnavailable(await fetchOf(baseUrl, buyer.apiKey, purchase));
        // Only the store can distinguish an unknown key from a valid one.
        expectUnavailable(await fetchOf(baseUrl, 'unknown', purchase));
        expectUnavailable(await fetchOf(baseUrl, 'unknown', { method: 'GET', path: '/no/such/path' }));
        expect(await statusOf(baseUrl, 'GET /% HTTP/1.1\r\nHost: test\r\nX-SERVICE-APIKEY: unknown\r\n\r\n')).toBe(400);
        const operator = await fetch(`${operatorUrl}/accounts`, { headers: { authorization: `Bearer ${OPERATOR_TOKEN}` } });
        expect(operator.status).toBe(503);
        expect(operator.headers.get('content-type')).toMatch(/^application\/problem\+json/);
        expect(operator.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);

        await comeBack();
        const response = await vi.waitFor(
          async () => {
            const again = await fetchOf(baseUrl, buyer.apiKey, purchase);
            expect(again.status).toBe(200);
            return again;
          },
          { timeout: 300_000, interval: 100 },
        );
        expect(response.body.data.config.hostname).toBe(`away-${round}`);
        // A connection of the time of the outage may still fail.
        await vi.waitFor(async () => expect((await fetch(`${baseUrl}/readyz`)).status).toBe(200), { timeout: 300_000, interval: 50 });
        await load.stop();
        slowest = Math.max(slowest, ...responses().map(({ milliseconds }) => milliseconds));
        requests += load.sent.length;
        refused += count();
        await expectAllKept({ load, place, instance: baseUrl, outage: { mayHaveBought: true } });
        // Every caller got every response: none was left waiting.
        expect(load.sent.filter(({ responses: own }) => own.length === 0)).toEqual([]);
      }
      expect(slowest).toBeLessThan(BOUND);
      expect(server.process.exitCode).toBeNull();
      await place.expectIntegrity();
      tell(`${name}: ${ROUNDS} times, ${requests} requests, ${refused} responses with 503, the slowest within ${Math.round(slowest)} ms`);
      expect(await server.end('SIGTERM')).toBe(0);
    },
  );
}

/** The status of the response to bytes that no HTTP library would send. */
async function statusOf(baseUrl: string, request: string): Promise<number> {
  const { hostname, port } = new URL(baseUrl);
  const socket = connect(Number(port), hostname);
  socket.write(request);
  const [chunk] = await once(socket, 'data');
  socket.destroy();
  return Number(/^HTTP\/1\.1 (\d+)/.exec(String(chunk))?.[1]);
}
