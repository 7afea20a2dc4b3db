/** The primary of a PostgreSQL cluster fails over to a standby, and back. */
import { setTimeout as pause } from 'node:timers/promises';

import { expect, test, vi } from 'vitest';

import { TEST_TIMEOUT_MS } from '../../../../.config/depth.ts';
import { query } from '../database.ts';
import { startServer } from '../process.ts';
import type { Server } from '../process.ts';
import { tell } from './figures.ts';
import { expectAllKept } from './kept.ts';
import { startLoad } from './load.ts';
import { ownPostgresPair } from './own-postgres.ts';
import { postgresPlace } from './place.ts';
import { goToMidMonth, newAccount, newAccounts } from './provider.ts';
import type { Account } from './provider.ts';
import { proxyTo } from './proxy.ts';
import { ROUNDS, seed } from './random.ts';
import { fetchOf, vmPurchase } from './request.ts';

const CALLERS = 8;
/** Purchases in a row that show that an instance has recovered. Its connections to the standby would refuse some of them. */
const RECOVERED_AFTER = 40;

test(
  `the address of the database leads to a hot standby for a while, ${ROUNDS} times: readiness is 503, and the service recovers without a restart (FAULT_SEED=${seed})`,
  { timeout: TEST_TIMEOUT_MS + ROUNDS * 120_000, tags: 'deep' },
  async () => {
    const pair = await ownPostgresPair();
    const proxy = await proxyTo(pair.url);
    const place = postgresPlace(pair.url, proxy.url);
    const server = await startServer(place.environment());
    await goToMidMonth(server);
    const buyer = await newAccount(server);
    const accounts = await newAccounts(server, ROUNDS);
    for (const [round, account] of accounts.entries()) {
      const prefix = `s${round}-${seed.toString(36)}`;
      const load = startLoad({ instances: [server.baseUrl], account, seed: seed + round * 1_000, callers: CALLERS, prefix });
      await load.responsesReceived(50);

      await proxy.cut();
      load.slowDown();
      proxy.moveTo(pair.standbyUrl);
      await proxy.mend();
      await vi.waitFor(async () => expect(await readiness(server)).toBe(503), { timeout: 300_000, interval: 50 });
      expect((await fetch(`${server.operatorUrl}/healthz`)).status).toBe(200);
      const refused = () => load.sent.flatMap(({ responses }) => responses).filter(({ status }) => status === 503).length;
      await vi.waitFor(() => expect(refused()).toBeGreaterThan(2 * CALLERS), { timeout: 300_000, interval: 50 });

      // The service keeps its connections to the standby, if it has any.
      proxy.moveTo(pair.url);
      const { failed, recoveredMs } = await recover(server, buyer, `w${round}`);
      await load.stop();
      tell(
        `failover ${round + 1}: ${refused()} requests got 503; after the return ${failed} purchases failed, the last of them began after ${Math.round(recoveredMs)} ms`,
      );
      expect(await readiness(server)).toBe(200);
      await expectAllKept({ load, place, instance: server.baseUrl, outage: { mayHaveBought: true } });
    }
    expect(server.process.exitCode).toBeNull();
    await place.expectIntegrity();
    expect(await server.end('SIGTERM')).toBe(0);
  },
);

test(
  `with both hosts in DATABASE_URL, an instance uses the primary, and the promoted standby when the primary crashes (FAULT_SEED=${seed})`,
  { tags: 'deep' },
  async () => {
    const pair = await ownPostgresPair();
    // With synchronous replication the standby has every transaction that was confirmed.
    await query(pair.url, `alter system set synchronous_standby_names = '*'`);
    await query(pair.url, 'select pg_reload_conf()');
    const [primary, standby] = [new URL(pair.url).host, new URL(pair.standbyUrl).host];
    const both = pair.url.replace(primary, `${standby},${primary}`);
    const server = await startServer(postgresPlace(pair.url, `${both}?target_session_attrs=read-write`).environment());
    expect(server.welcome).toContain(`PostgreSQL database postgres at ${standby}, ${primary}`);
    await goToMidMonth(server);
    const account = await newAccount(server);
    const load = startLoad({ instances: [server.baseUrl], account, seed, callers: CALLERS, prefix: `p-${seed.toString(36)}` });
    await load.responsesReceived(50);
    await pair.crash();
    load.slowDown();
    await vi.waitFor(async () => expect(await readiness(server)).toBe(503), { timeout: 300_000, interval: 50 });
    await query(pair.standbyUrl, 'select pg_promote()');
    const promoted = performance.now();
    await vi.waitFor(async () => expect(await readiness(server)).toBe(200), { timeout: 300_000, interval: 50 });
    const found = performance.now() - promoted;
    await load.responsesReceived(100, 'now');
    await load.stop();
    const place = postgresPlace(pair.standbyUrl);
    await expectAllKept({ load, place, instance: server.baseUrl, outage: { mayHaveBought: true } });
    const refused = load.sent.flatMap(({ responses }) => responses).filter(({ status }) => status === 503).length;
    tell(`two hosts: ready ${Math.round(found)} ms after the promotion, ${load.sent.length} requests, ${refused} responses with 503`);
    await place.expectIntegrity();
    expect(await server.end('SIGTERM')).toBe(0);
  },
);

async function readiness({ baseUrl }: Server): Promise<number> {
  return (await fetch(`${baseUrl}/readyz`)).status;
}

/** Buys VMs one after another, until enough in a row succeed. `recoveredMs` is the number of milliseconds until the last refused purchase began. */
async function recover(server: Server, { apiKey }: Account, prefix: string): Promise<{ failed: number; recoveredMs: number }> {
  const begun = performance.now();
  const seen = { failed: 0, recoveredMs: 0 };
  for (let number = 1, inRow = 0; inRow < RECOVERED_AFTER; number++) {
    const asked = performance.now() - begun;
    const { status } = await fetchOf(server.baseUrl, apiKey, vmPurchase(`${prefix}-${number}`));
    inRow = status === 200 ? inRow + 1 : 0;
    if (status === 200) continue;
    seen.failed++;
    seen.recoveredMs = asked;
    await pause(50);
  }
  return seen;
}
