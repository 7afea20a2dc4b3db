/** The process is repeatedly killed while it is busy. */
import { expect, test } from 'vitest';

import { TEST_TIMEOUT_MS } from '../../../../.config/depth.ts';
import { startServer } from '../process.ts';
import { tell } from './figures.ts';
import { BUSY_DATABASE, expectAllKept, leftReservations } from './kept.ts';
import { startLoad } from './load.ts';
import type { Load } from './load.ts';
import { newPlace } from './place.ts';
import { goToMidMonth, newAccount } from './provider.ts';
import { between, randomFrom, ROUNDS, seed } from './random.ts';

/** On PostgreSQL, recovery undoes the purchases of a dead process after its lease. With one instance, no other can mistake a busy process for dead. */
const LEASE = { RESELLER_LEASE_SECONDS: '3' };
const CALLERS = 16;
/** Maximum number of extra rounds until a kill has interrupted a purchase. */
const FURTHER = 20;
/** Maximum number of responses before the kill. */
const LATEST = 120;

test.each(['sqlite', 'postgres'] as const)(
  `%s: killed ${ROUNDS} times while it is busy, it keeps the effect of every response, and undoes the rest (FAULT_SEED=${seed})`,
  { timeout: TEST_TIMEOUT_MS + (ROUNDS + FURTHER) * 30_000 },
  async (engine) => {
    const random = randomFrom(seed);
    const place = await newPlace(engine);
    const loads: Load[] = [];
    const outage = engine === 'postgres' ? { outage: BUSY_DATABASE } : {};
    const cutInHalf = new Set<string>();
    let server = await startServer({ ...place.environment(), ...LEASE });
    await goToMidMonth(server);
    for (let round = 0; round < ROUNDS || (cutInHalf.size === 0 && round < ROUNDS + FURTHER); round++) {
      const account = await newAccount(server);
      const prefix = `r${round}-${seed.toString(36)}`;
      const load = startLoad({ instances: [server.baseUrl], account, seed: seed + round * 1_000, callers: CALLERS, prefix });
      await load.responsesReceived(between(random, 1, LATEST));
      await server.end('SIGKILL');
      await load.stop();
      await place.expectIntegrity();
      for (const left of await place.examine(leftReservations)) cutInHalf.add(left);
      server = await startServer({ ...place.environment(), ...LEASE });
      await expectAllKept({ load, place, instance: server.baseUrl, ...outage });
      loads.push(load);
    }
    // Later rounds did not affect earlier ones.
    for (const load of loads) await expectAllKept({ load, place, instance: server.baseUrl, ...outage });
    await server.end('SIGTERM');
    await place.expectIntegrity();
    const sent = loads.flatMap((load) => load.sent);
    const lost = sent.filter(({ times, responses }) => times > responses.length);
    tell(
      `${engine}: ${loads.length} kills, ${sent.length} requests, ${sent.filter(({ buys }) => buys).length} of them purchases, ${lost.length} whose response was lost, ${cutInHalf.size} reservations and keys cut in half`,
    );
    expect(lost.length).toBeGreaterThanOrEqual(loads.length);
    expect(cutInHalf.size, 'no kill came between a reservation and its confirmation').toBeGreaterThan(0);
  },
);
