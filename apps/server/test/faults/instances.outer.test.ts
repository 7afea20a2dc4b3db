/** One of two instances on one database is killed while both are busy and a month ends. */
import { advanceClock, getClock } from '@reseller/operator-client';
import type { Store } from '@reseller/service';
import { expect, test } from 'vitest';

import { TEST_TIMEOUT_MS } from '../../../../.config/depth.ts';
import { query } from '../database.ts';
import { startServer } from '../process.ts';
import type { Server } from '../process.ts';
import { tell } from './figures.ts';
import { BUSY_DATABASE, expectAllKept } from './kept.ts';
import { startLoad } from './load.ts';
import type { Load } from './load.ts';
import { newPlace } from './place.ts';
import { goToMidMonth, newAccount, operatorOf } from './provider.ts';
import type { Account } from './provider.ts';
import { between, randomFrom, ROUNDS, seed } from './random.ts';
import { fetchOf, vmPurchase } from './request.ts';

const CALLERS = 8;
/** Number of other accounts whose month ends. */
const ACCOUNTS = 6;
/** Maximum number of extra rounds until a kill has interrupted a purchase. */
const FURTHER = 20;
/** Maximum number of responses before the kill. */
const LATEST = 100;
/** Responses of the other instance after the kill. */
const AFTER = 50;
const HOUR = 3_600_000;

test(
  `one of two instances is killed ${ROUNDS} times while a month ends: the other carries on, nothing is lost or doubled, each month is closed once (FAULT_SEED=${seed})`,
  { timeout: TEST_TIMEOUT_MS + (ROUNDS + FURTHER) * 90_000 },
  async () => {
    const random = randomFrom(seed);
    const place = await newPlace('postgres');
    const { DATABASE_URL: url = '' } = place.environment();
    const start = () => startServer(place.environment());
    // In each round the survivor of the previous round dies, and a new instance is started.
    let [stays, dies] = await Promise.all([start(), start()]);
    let end = monthAfter(await goToMidMonth(stays));
    const accounts: Account[] = [];
    for (let number = 0; number < ACCOUNTS; number++) accounts.push(await accountWithVms(stays, `idle-${number}`));
    const loads: Load[] = [];
    const cutInHalf = new Set<string>();
    for (let round = 0; round < ROUNDS || (cutInHalf.size === 0 && round < ROUNDS + FURTHER); round++) {
      // An hour before the month ends. A round is shorter than a day, so its Idempotency-Keys stay valid.
      await turnClock(stays, new Date(end.getTime() - HOUR));
      const after = new Date(end.getTime() + HOUR);
      const account = await newAccount(stays);
      accounts.push(account);
      const prefix = `n${round}-${seed.toString(36)}`;
      const instances = [stays.baseUrl, dies.baseUrl];
      const load = startLoad({ instances, account, seed: seed + round * 1_000, callers: CALLERS, prefix });
      const killedAfter = between(random, 2, LATEST);
      const turnedAfter = between(random, 1, killedAfter);
      await load.responsesReceived(turnedAfter);
      // The month ends, through the instance that is about to die or through the other one.
      const told = random() < 0.5 ? dies : stays;
      const turned = turnClock(told, after).catch(() => undefined);
      await load.responsesReceived(killedAfter);
      await dies.end('SIGKILL');
      // At once, because on a busy machine the survivor may undo them before the load has stopped.
      const begun = await query(url, 'select id, owner from reservations');
      await turned;
      // If the instance died before it received the request, the other instance gets it.
      await turnClock(stays, after);
      const atKill = load.sent.length;
      await load.responsesReceived(AFTER, 'now');
      expect(load.sent.length, 'the other instance continues').toBeGreaterThan(atKill);
      await load.stop();
      // The survivor may still be closing months that the dead instance had begun to close.
      await place.waitFor((store) => expectMonthsClosedOnce(store, end));
      // When the lease of the dead instance expires, the survivor undoes its purchases without a restart.
      await expectAllKept({ load, place, instance: stays.baseUrl, outage: BUSY_DATABASE });
      await place.examine((store) => expectMonthsClosedOnce(store, end));
      // Only the survivor has renewed its lease since then.
      const [survivor] = await query(url, 'select id from instances order by lease_until desc limit 1');
      for (const { id, owner } of begun) if (owner !== survivor?.['id']) cutInHalf.add(String(id));
      loads.push(load);
      end = monthAfter(end);
      [dies, stays] = [stays, await start()];
    }
    // Later rounds did not affect earlier ones.
    for (const load of loads) await expectAllKept({ load, place, instance: stays.baseUrl, keysAreOver: true, outage: BUSY_DATABASE });
    await place.expectIntegrity();
    const sent = loads.flatMap((load) => load.sent);
    tell(
      `two instances: ${loads.length} kills, ${sent.length} requests, ${sent.filter(({ buys }) => buys).length} of them purchases, ${cutInHalf.size} reservations cut in half, ${accounts.length} accounts with a month that ended`,
    );
    expect(cutInHalf.size, 'no kill came between a reservation and its confirmation').toBeGreaterThan(0);
  },
);

function monthAfter(date: Date): Date {
  return new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1));
}

/** An idle account with one or two VMs. */
async function accountWithVms(server: Server, name: string): Promise<Account> {
  const account = await newAccount(server);
  for (const number of [1, 2]) {
    expect((await fetchOf(server.baseUrl, account.apiKey, vmPurchase(`${name}-${number}`))).status).toBe(200);
  }
  return account;
}

async function turnClock(server: Server, to: Date): Promise<void> {
  const client = operatorOf(server);
  const reads = new Date((await getClock({ client })).now);
  if (reads < to) await advanceClock({ client, body: { to: to.toISOString() } });
}

/** Each account has one invoice for each billed month, and its current period is the current month. */
async function expectMonthsClosedOnce(store: Store, present: Date): Promise<void> {
  const { accounts, invoices } = await store.read(async (db) => ({
    accounts: await db.selectFrom('accounts').select(['id', 'period_start']).execute(),
    invoices: await db.selectFrom('invoices').select(['id', 'account_id', 'period_start']).execute(),
  }));
  expect(accounts.filter(({ period_start }) => period_start !== present.getTime() / 1000)).toEqual([]);
  const months = invoices.map(({ account_id, period_start }) => `${account_id} ${period_start}`);
  expect(months.length, 'a month is closed twice').toBe(new Set(months).size);
  expect(invoices.length).toBeGreaterThan(0);
}
