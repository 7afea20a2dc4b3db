/** The disk of the embedded store is full for a while. */
import { openSqliteStore, StoreUnavailableError } from '@reseller/service';
import { expect, onTestFinished, test, vi } from 'vitest';

import { TEST_TIMEOUT_MS } from '../../../../.config/depth.ts';
import { startServer } from '../process.ts';
import { disks, mounted } from './disk.ts';
import { tell } from './figures.ts';
import { expectAllKept, expectUnavailable } from './kept.ts';
import { startLoad } from './load.ts';
import type { Load } from './load.ts';
import { sqlitePlace } from './place.ts';
import { goToMidMonth, newAccount } from './provider.ts';
import { between, randomFrom, ROUNDS, seed } from './random.ts';
import { fetchOf, vmPurchase } from './request.ts';

const CALLERS = 8;

for (const { name, missing, create } of disks) {
  test(
    `${name}: 503 while the disk is full under load, in ${ROUNDS} rounds (FAULT_SEED=${seed})`,
    { timeout: TEST_TIMEOUT_MS + ROUNDS * 30_000 },
    async ({ skip }) => {
      skip(missing !== undefined, missing);
      const random = randomFrom(seed);
      const disk = create();
      const place = sqlitePlace(disk.directory);
      const server = await startServer(place.environment());
      const { baseUrl, operatorUrl } = server;
      const processId = server.process.pid ?? 0;
      await goToMidMonth(server);
      const account = await newAccount(server);
      const loads: Load[] = [];
      for (let round = 0; round < ROUNDS; round++) {
        const prefix = `f${round}-${seed.toString(36)}`;
        const load = startLoad({
          instances: [baseUrl],
          account: await newAccount(server),
          seed: seed + round * 1_000,
          callers: CALLERS,
          prefix,
        });
        await load.responsesReceived(between(random, 1, 100));
        disk.fill(processId);
        await vi.waitFor(() => expect(refusedOf(load)).toBeGreaterThan(30), { timeout: 300_000, interval: 20 });
        // Requests in progress may still fit when the disk fills up. Later ones do not.
        const purchase = vmPurchase(`late-${round}`, { key: `late-${round}` });
        await vi.waitFor(async () => expectUnavailable(await fetchOf(baseUrl, account.apiKey, purchase)), { timeout: 300_000 });
        expect((await fetch(`${operatorUrl}/healthz`)).status).toBe(200);
        const readiness = async () => {
          const response = await fetch(`${operatorUrl}/readyz`);
          return [response.status, await response.json()];
        };
        await vi.waitFor(async () => expect(await readiness()).toEqual([503, { status: 'unavailable', reason: 'store' }]), {
          timeout: 300_000,
        });
        disk.free(processId);
        const { status } = await vi.waitFor(
          async () => {
            const response = await fetchOf(baseUrl, account.apiKey, purchase);
            expect(response.status).not.toBe(503);
            return response;
          },
          { timeout: 300_000 },
        );
        expect(status).toBe(200);
        expect((await readiness())[0]).toBe(200);
        await load.stop();
        await place.expectIntegrity();
        await expectAllKept({ load, place, instance: baseUrl, outage: { mayHaveBought: false } });
        loads.push(load);
      }
      await server.end('SIGTERM');
      await place.expectIntegrity();
      const refused = loads.reduce((sum, load) => sum + refusedOf(load), 0);
      tell(`${name}: full ${ROUNDS} times, ${loads.flatMap(({ sent }) => sent).length} requests, ${refused} responses with 503`);
    },
  );
}

const MIB = 2 ** 20;

test('the embedded store recovers by itself when 16 MiB of a full disk are freed', async ({ skip }) => {
  skip(mounted.missing !== undefined, mounted.missing);
  const disk = mounted.create();
  const store = await openSqliteStore(disk.directory);
  onTestFinished(() => store.close());
  let written = 0;
  /** Changes one row, so that only the write-ahead log grows. */
  const write = () =>
    store.commit(async ({ db }) => {
      const value = String(written++).padEnd(MIB, '-');
      const values = { name: 'padding', value };
      await db
        .insertInto('settings')
        .values(values)
        .onConflict((conflict) => conflict.column('name').doUpdateSet({ value }))
        .execute();
    });
  const writeTimes = async (count: number) => {
    for (let time = 0; time < count; time++) await write();
  };
  await writeTimes(30);
  disk.leave(0);
  await expect(writeTimes(100)).rejects.toThrow(StoreUnavailableError);
  disk.leave(16 * MIB);
  await vi.waitFor(write, { timeout: 300_000 });
  await writeTimes(100);
});

/** Number of responses with 503. */
function refusedOf({ sent }: Load): number {
  return sent.flatMap(({ responses }) => responses).filter(({ status }) => status === 503).length;
}
